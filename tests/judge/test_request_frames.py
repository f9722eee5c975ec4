"""What goes between two nodes: the headers of requests and answers, in every version."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplab.judge.wire.metadata_log import ReleaseSchemas, schema_of
from kiplab.judge.wire.node_connection import (
    ReceivedRequest,
    UnknownRequestError,
    read_answer,
    read_request,
    written_answer,
    written_request,
)


def both(api: str, key: int, versions: str, flexible: str) -> tuple[str, str]:
    """A request and its answer of one number each."""
    head = f'"apiKey": {key}, "validVersions": "{versions}", "flexibleVersions": "{flexible}"'
    fields = '"fields": [ { "name": "Number", "type": "int32", "versions": "0+" } ]'
    return (
        f'{{ {head}, "type": "request", "name": "{api}Request", {fields} }}',
        f'{{ {head}, "type": "response", "name": "{api}Response", {fields} }}',
    )


APIS = {
    "LeaderAndIsr": both("LeaderAndIsr", 4, "0-7", "4+"),
    "ControlledShutdown": both("ControlledShutdown", 7, "0-3", "3+"),
    "ApiVersions": both("ApiVersions", 18, "0-3", "3+"),
}
SCHEMAS = ReleaseSchemas(
    requests={api: schema_of(texts[0]) for api, texts in APIS.items()},
    responses={api: schema_of(texts[1]) for api, texts in APIS.items()},
    records={},
)
asked = st.sampled_from(
    [(api, v) for api in APIS for v in range(SCHEMAS.requests[api].versions.last + 1)]
)
numbers = st.integers(-(2**31), 2**31 - 1)


@given(asked=asked, correlation=numbers, number=numbers)
def test_a_request_is_read_as_it_was_written(
    asked: tuple[str, int], correlation: int, number: int
) -> None:
    api, version = asked
    frame = written_request(SCHEMAS, api, version, correlation, {"Number": number})
    client = None if asked == ("ControlledShutdown", 0) else "kiplab"
    request = ReceivedRequest(api, version, correlation, client, {"Number": number})
    assert read_request(SCHEMAS, frame) == request


@given(asked=asked, correlation=numbers, number=numbers)
def test_an_answer_is_read_as_it_was_written(
    asked: tuple[str, int], correlation: int, number: int
) -> None:
    api, version = asked
    request = ReceivedRequest(api, version, correlation, None, {})
    frame = written_answer(SCHEMAS, request, {"Number": number})
    assert read_answer(SCHEMAS, api, version, frame) == (correlation, {"Number": number})


def test_the_first_controlled_shutdown_does_not_say_who_asks() -> None:
    frames = [
        written_request(SCHEMAS, "ControlledShutdown", version, 1, {"Number": 9})
        for version in (0, 1, 3)
    ]
    assert frames[0] == bytes.fromhex("0007 0000 00000001 00000009")
    assert frames[1] == bytes.fromhex("0007 0001 00000001 0006 6b69706c6162 00000009")
    assert frames[2] == bytes.fromhex("0007 0003 00000001 0006 6b69706c6162 00 00000009 00")


def test_somebody_who_does_not_give_a_name_is_nobody() -> None:
    frame = bytes.fromhex("0004 0000 00000001 ffff 00000009")
    assert read_request(SCHEMAS, frame).client is None


def test_an_answer_about_versions_is_headed_as_before_headers_had_tags() -> None:
    request = ReceivedRequest("ApiVersions", 3, 5, None, {})
    assert written_answer(SCHEMAS, request, {"Number": 9}) == bytes.fromhex("00000005 00000009 00")


def test_tags_in_a_header_are_passed_over() -> None:
    frame = bytes.fromhex("0004 0004 00000001 0000 01 2a 02 abcd 00000009 00")
    assert read_request(SCHEMAS, frame).body == {"Number": 9}


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ("0063 0000 00000001 0000", "no API with the key 99"),
        ("0004 0008 00000001 0000", "no LeaderAndIsr v8"),
        ("0004 0000 00000001 0000 00000009 ff", "LeaderAndIsr v0: 1 bytes too many"),
    ],
)
def test_what_no_schema_describes_is_refused(frame: str, said: str) -> None:
    with pytest.raises(UnknownRequestError, match=said):
        read_request(SCHEMAS, bytes.fromhex(frame))


def test_an_answer_with_bytes_left_over_is_refused() -> None:
    with pytest.raises(UnknownRequestError, match="LeaderAndIsr v0: 1 bytes too many"):
        read_answer(SCHEMAS, "LeaderAndIsr", 0, bytes.fromhex("00000001 00000009 ff"))
