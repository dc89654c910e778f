# Debian 12 with Sinter's packages, built from this checkout: docs/install.md.
#   docker build -t sinter .
FROM debian:12-slim AS dependencies
WORKDIR /opt/sinter
COPY scripts/deps scripts/lib.sh scripts/
RUN scripts/deps build test deb

# What developing Sinter needs, without Sinter: the dev container's.
FROM dependencies AS development
RUN scripts/deps clang format bench && apt-get install -y --no-install-recommends ca-certificates git gdb

FROM dependencies AS packages
COPY . .
RUN scripts/deb

FROM debian:12-slim
COPY --from=packages /opt/sinter/build/deb/*.deb /opt/sinter/
RUN apt-get update \
  && apt-get install -y --no-install-recommends /opt/sinter/*.deb cmake g++ libopenblas0 make python3-numpy \
  && rm -rf /var/lib/apt/lists/* /opt/sinter
