"""The skeleton of all judges: real software and the engine do the same turns, and are compared.

A judge fills in six things; everything else is here, once:

1. **Turns** (`turns.py`): a closed union of frozen, tagged msgspec structs. `rows.py` writes a turn
   or an answer as a short JSON row and reads it back.
2. **Two sides** (`sides.py`): `Side.answer(turn)` is the real one, live or recorded;
   `EngineSide.answer(turn, real)` is the engine's. It may take from the real answer only what the
   real software leaves open: where its log ends, the order of a hash table, elapsed milliseconds.
3. **A comparison**: a function of two answers that yields a `Parting` for each thing that differs.
   `Run` does one turn after the other on both sides until they part, and words the difference.
4. **A generator**: chooses the next turn from a seed and from what the engine holds. It calls
   `Run.do`. A recording keeps the turns, so that no replay asks the generator again: another
   generator never makes a recording stale.
5. **Rules** (`coverage.py`): what there is to try, read off the engine's own modules by AST
   (`words_in`: ids of guards and names of errors), and `Coverage`, which watches the engine's moves
   and counts hits; `why_untried` of the judge says what cannot be tried.
6. **A Judge** (`judging.py`): subjects (a release, a pair), how one is judged live or recorded.
   Each conversation is an `Outcome`; `judged` sums them up.

The rest of the skeleton:

- `recordings.py`: one file format (a head, then a line for each conversation, xz), one error.
  A head may list `covering`: the conversations that meet every rule, found by `covering()` when the
  recording is made. A quick test replays only these, the long test all.
- `generating.py`: `Dice`, which all generators throw, and `Shrinking(turns, holds).shortest()`, one
  ddmin for every language of turns.
- `wrong_engines.py`: `WrongEngine` and `built`, an engine that is wrong in one rule on purpose;
  those of the KRaft controller are rows of `tests/judge/kraft/wrong_engines.toml`.
- `command.py`: `python -m tests.judge NAME [--recorded|--record] [--coverage] [SUBJECT ...]`; a
  judge is added to `JUDGES` in `tests/judge/__main__.py`. Exit codes: 0 agreed, 1 a difference or
  an untried rule, 2 bad input, 3 no Kafka, no Java, or no recording.

What `kiplab real`, a lab or the doctor needs stays in `kiplab/judge`; nothing there imports this.
"""
