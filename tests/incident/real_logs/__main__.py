"""`python -m tests.incident.real_logs --record [NAME...]`: logs of real controllers, made anew."""

import argparse

from tests.incident.real_logs.recording import SCRIPTS, record

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.incident.real_logs")
    parser.add_argument("names", nargs="*", help=f"among {', '.join(SCRIPTS)}; all without one")
    parser.add_argument("--record", action="store_true", required=True)
    for name in parser.parse_args().names or SCRIPTS:
        for file in record(name):
            print(f"{file.stat().st_size:>8} {file}")
