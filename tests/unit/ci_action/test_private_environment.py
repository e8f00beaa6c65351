"""Of pip's settings only those count that say where wheels come from."""

from __future__ import annotations

from ci_action.private_environment import sources

LISTED = """\
:env:.index-url='from a variable, which is read itself'
global.index-url='https://mirror.example/simple'
global.extra-index-url='https://one.example/simple\\nhttps://two.example/simple'
global.trusted-host='mirror.example'
global.user='true'
global.target='/nowhere'
global.constraint='constraints.txt'
install.find-links='/opt/wheels'
install.no-deps='true'
install.prefix='/nowhere'
download.find-links='of another command'
global.require-virtualenv='true'
global.cert='/etc/ssl/own.pem'
"""


def test_where_wheels_come_from_is_kept_and_nothing_else() -> None:
    assert list(sources(LISTED)) == [
        ("index_url", "https://mirror.example/simple"),
        ("extra_index_url", "https://one.example/simple https://two.example/simple"),
        ("trusted_host", "mirror.example"),
        ("find_links", "/opt/wheels"),
        ("cert", "/etc/ssl/own.pem"),
    ]
