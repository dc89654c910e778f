# Sinter built from this folder, with the tool, the Python package and what programs in C++ need.
#   docker build -t sinter . && docker run --rm sinter sinter run '2 ** 10'
# With GPUs: docker run --gpus all; NVRTC and cuBLAS come from NVIDIA's CUDA image or from the wheels of sinter-jit[cuda].
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
    g++ cmake ninja-build git python3-dev python3-pip python3-numpy \
    libboost-dev libboost-context-dev libtbb-dev libsleef-dev libxxhash-dev libfmt-dev nlohmann-json3-dev zlib1g-dev
RUN pip install --break-system-packages --no-cache-dir 'nanobind>=2.15,<3'
COPY . /sinter
WORKDIR /sinter
RUN cmake --preset release -DSINTER_EXAMPLES=OFF -DCMAKE_INSTALL_PREFIX=/usr/local \
    && cmake --build build/release && cmake --install build/release --prefix /opt/sinter --strip

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
    g++ cmake make libboost-dev libboost-context1.74.0 libtbb12 libsleef3 libfmt9 zlib1g libopenblas0-pthread \
    python3 python3-numpy && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/sinter /usr/local
ENV LD_LIBRARY_PATH=/usr/local/lib
CMD ["sinter", "devices"]
