"""An analytical model of a step over many devices: bytes, operations and links. Nothing was measured.

Each device computes on its own rows; then an all-reduce adds up `gradient` bytes of every device.
    compute  = max(bytes / bandwidth, operations / speed) + launches x 2 us
    ring     = 2 (k - 1) / k x bytes / link + 2 (k - 1) x latency           k devices in a ring
    several machines: a ring within each, then a ring across them, in which each device sends its share of the bytes
    through its own network card.
"""

DEVICE = {"bandwidth": 4.8e12, "speed": 400e12}  # an H200: HBM3e; bfloat16 products, of which half the peak is reached
LINK = {"rate": 450e9, "latency": 2e-6}  # NVLink 4, one direction
CARD = {"rate": 50e9, "latency": 5e-6}  # 400 Gb/s for each device
LAUNCH = 2e-6
PER_MACHINE = 8
WORK = {  # of the whole step, over all devices: bytes, operations, kernels, bytes of the all-reduce
    "elementwise chain, 2^33 float32": (2 * 4 * 2**33, 10 * 2**33, 1, 0),
    "sum over dim 0, 2^20 x 2^13 float32": (4 * 2**33, 2**33, 1, 4 * 2**13),
    "training, 10^9 parameters in bfloat16, 2^20 rows": (0, 6 * 1e9 * 2**20, 500, 2 * 1e9),
}


def ring(bytes_, devices, link):
    if devices == 1 or bytes_ == 0:
        return 0.0
    return 2 * (devices - 1) / devices * bytes_ / link["rate"] + 2 * (devices - 1) * link["latency"]


def all_reduce(bytes_, devices):
    machines = -(-devices // PER_MACHINE)
    if machines == 1:
        return ring(bytes_, devices, LINK)
    return ring(bytes_, PER_MACHINE, LINK) + ring(bytes_ / PER_MACHINE, machines, CARD)


def step(work, devices):
    """Seconds of the computation and of the all-reduce that follows it."""
    bytes_, operations, kernels, gradient = work
    compute = max(bytes_ / devices / DEVICE["bandwidth"], operations / devices / DEVICE["speed"]) + kernels * LAUNCH
    return compute, all_reduce(gradient, devices)


def table():
    lines = ["| step | devices | compute, ms | all-reduce, ms | parallel efficiency |", "| --- | --- | --- | --- | --- |"]
    for name, work in WORK.items():
        single = sum(step(work, 1))
        for devices in (1, 8, 64, 8000):
            compute, reduce = step(work, devices)
            efficiency = single / (compute + reduce) / devices
            lines.append(f"| {name} | {devices} | {compute * 1e3:.3g} | {reduce * 1e3:.3g} | {efficiency:.0%} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
