"""What 10 % relative error at base rates costs: `python tests/bench/rare_rates.py`.

For each feature set and metric: the rate by forced windows, half of its 95 % interval, and the CPU
time that an error of 10 % takes, from what these samples took.
"""

import time

from kiplab.fleet.estimators.forced_windows import BLOCKS, SAMPLES, forced_rates
from kiplab.fleet.parameters import Parameters
from kiplab.fleet.statistics.event_rates import WeighedRate

SETS = {"none": frozenset[str](), "841": frozenset({"841"}), "903": frozenset({"903"})}
WANTED, STANDARD_ERRORS = 0.1, 1.96
TARGET_SECONDS = 1.0


def main() -> None:
    forced_rates(Parameters(), SETS["none"], seed=0)  # what is imported is imported once
    print(f"{BLOCKS} blocks of {SAMPLES} samples; target: 10 % in < {TARGET_SECONDS:g} s of CPU")
    for name, kips in SETS.items():
        began = time.process_time()
        rates = forced_rates(Parameters(), kips, seed=1)
        spent = time.process_time() - began
        for metric, rate in rates.items():
            assert isinstance(rate, WeighedRate)
            half = (rate.high - rate.low) / 2 / rate.rate
            needed = spent * (half / STANDARD_ERRORS / WANTED) ** 2
            numbers = f"{rate.rate:>9.2e} a year  +-{half:>5.1%}  {1e3 * needed:>7.3f} ms for 10 %"
            print(f"{name:<5}{metric:<19}{numbers}  {' '.join(rate.alarms)}")


if __name__ == "__main__":
    main()
