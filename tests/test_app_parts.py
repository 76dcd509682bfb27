"""The app in parts: who may ask, how choices become a command, and a message if something is not installed."""

import asyncio
import shlex
import subprocess
import sys

import pytest

pytest.importorskip("starlette", reason='the app needs starlette: pip install "sparsecluster[app]"')
pytest.importorskip("uvicorn", reason='the app needs uvicorn: pip install "sparsecluster[app]"')
pytest.importorskip("httpx", reason="the app is asked by httpx: pip install httpx")
import httpx

from sparsecluster.app.choices import Choices, Reading, fit_arguments
from sparsecluster.app.names import as_argument, command_of, ending, quoted, result_name, safe_name
from sparsecluster.app.server import make_app
from sparsecluster.app.tables import on_page

PORT, KEY, START = 8123, "the-secret-key", "only-once"
HOME = f"http://127.0.0.1:{PORT}"


class Client:
    """Asks an application without a server. Its lifespan is not run, so that no process is started."""

    def __init__(self, app):
        self.app = app

    def request(self, method, path, **given):
        async def ask():
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=HOME) as client:
                return await client.request(method, path, **given)

        return asyncio.run(ask())

    def get(self, path, **given):
        return self.request("GET", path, **given)

    def post(self, path, **given):
        return self.request("POST", path, **given)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    app = make_app(tmp_path_factory.mktemp("app"), KEY, PORT, most_bytes=1000, quit_=lambda: None, start_key=START)
    return Client(app)


# ---------------------------------------------------------------- who may ask


def test_the_page_is_shown_to_those_who_have_its_address(client):
    page = client.get(f"/{KEY}/")
    assert page.status_code == 200
    assert "<h1>sparsecluster</h1>" in page.text
    for name in ("app.css", "report.css", "app.js", "columns.js", "fits.js", "tools.js"):
        assert client.get(f"/{KEY}/static/{name}").status_code == 200
    assert client.get(f"/{KEY}/static/server.py").status_code == 404


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/tables/1", f"/{KEY[:-1]}/", f"/{KEY}x/", "/static/app.js"])
def test_others_are_refused(client, path):
    assert client.get(path).status_code == 403
    assert client.post(path, headers={"origin": HOME}).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", f"127.0.0.1.evil.example:{PORT}", ""]
)
def test_other_names_of_this_machine_are_refused(client, host):
    assert client.get(f"/{KEY}/", headers={"host": host}).status_code == 403


def test_this_machine_may_be_called_localhost(client):
    assert client.get(f"/{KEY}/", headers={"host": f"localhost:{PORT}"}).status_code == 200


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", f"https://127.0.0.1:{PORT}", "http://127.0.0.1:1", f"{HOME}.evil"]
)
@pytest.mark.parametrize("path", ["tables", "quit", "tables/x/fits", "jobs/x/cancel"])
def test_other_pages_cannot_change_anything(client, origin, path):
    headers = {} if origin is None else {"origin": origin}
    assert client.post(f"/{KEY}/{path}", headers=headers).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(client, method):
    assert client.request(method, f"/{KEY}/", headers={"origin": HOME}).status_code == 403


@pytest.mark.parametrize("path", [f"/{KEY}/", "/wrong/", f"/{KEY}/nothing"])
def test_every_answer_has_the_headers_that_keep_the_page_safe(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_the_address_that_the_browser_is_started_with_works_once(client):
    assert client.get("/start/wrong").status_code == 403
    first = client.get(f"/start/{START}")
    assert (first.status_code, first.headers["location"]) == (303, f"/{KEY}/")
    assert client.get(f"/start/{START}").status_code == 403


# ---------------------------------------------------------------- names and commands


@pytest.mark.parametrize("name", ["penguins.csv", "my table (1).xlsx", "größe 名前.tsv.gz", "a-b_c+d.h5ad", "2020.npz"])
def test_plain_names_are_kept(name):
    assert safe_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            ".csv",
            ".",
            "..",
            "../a.csv",
            "a/b.csv",
            "a\\b.csv",
            "c:a.csv",
            "-a.csv",
            "a*.csv",
            "a[1].csv",
            "a\n.csv",
        ),
        *(
            "a\n.csv",
            "a\u202e.csv",
            "<b>.csv",
            "$(a).csv",
            "CON.csv",
            "nul.csv",
            "a" * 200 + ".csv",
            "a.exe",
            "a.csv/",
            "a.csv ",
        ),
        *("a.csv\x00", "~.csv", "é" * 80 + ".csv", "a.zip", "a.tar.gz"),
    ],
)
def test_all_others_are_replaced(name):
    assert safe_name(name) == "table" + ending(name)
    assert ending(name) in ("", ".csv", ".csv.gz")


def test_results_are_named_after_the_file():
    assert result_name("counts.mtx.gz") == "counts-clusters"
    assert result_name("table") == "table-clusters"


@pytest.mark.parametrize("word", ["a", "a b", "it's", "two\nlines", "\u202ea'b\\c", "\x7f", "\x85", "$HOME `x`\t!", ""])
def test_a_shell_reads_quoted_words_as_they_were(word):
    run = subprocess.run(
        ["bash", "-c", f"printf %s {quoted(word)}"], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    )
    assert run.stdout.decode() == word
    assert quoted(word).isprintable()


def test_names_that_begin_with_a_dash_are_no_options():
    assert as_argument("--force") == "./--force"
    choices = Choices.of({"columns": [["-x", "left out", "auto"]]})
    assert "--drop=-x" in fit_arguments("a.csv", "out", Reading(), choices, {"-x": "feature"})


def test_only_what_was_changed_becomes_an_option():
    usual = {"number": "left out", "island": "feature", "name": "id", "age": "feature", "species": "feature"}
    columns = [
        *(["number", "feature", "auto"], ["island", "left out", "hamming"], ["name", "id", "auto"]),
        *(["age", "feature", "manhattan"], ["species", "truth", "auto"]),
    ]
    choices = Choices.of({"clusters": "4", "size": "core", "expression": True, "columns": columns})
    argv = fit_arguments("a b.csv", "a b-clusters", Reading("name", True, "second"), choices, usual)
    assert shlex.split(command_of(argv)) == ["sparsecluster", *argv]
    assert command_of(argv) == (
        "sparsecluster fit 'a b.csv' --id name --transpose --sheet second -k 4 --size core --preset expression "
        "--keep number --drop island --metric age=manhattan --truth species --out 'a b-clusters' --jobs -1"
    )
    assert command_of(fit_arguments("a.csv", "a-clusters", Reading(), Choices(), usual)) == (
        "sparsecluster fit a.csv --out a-clusters --jobs -1"
    )


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("It is left out. Use --keep COLUMN to use them.", "It is left out. Choose 'Use' to use them."),
        ("If so, use --metric 'a b=hamming'.", "If so, choose 'same level or not'."),
        ("If the rows are features, use --transpose.", "If the rows are features, select 'Samples are in columns'."),
        ("Use --dates d=DMY or --dates d=MDY.", "Use the command line with --dates d=DMY or --dates d=MDY."),
        ("Column '<b>' contains dates.", "Column '<b>' contains dates."),
    ],
)
def test_advice_is_in_the_words_of_the_page(told, shown):
    assert on_page(told) == shown


# ---------------------------------------------------------------- the command


def test_without_what_it_needs_the_command_says_how_to_install_it():
    code = (
        "import sys; sys.modules['uvicorn'] = None; sys.argv = ['sparsecluster', 'app']\n"
        "from sparsecluster.cli import main; main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.startswith("Error: The app needs uvicorn.")
    assert 'pip install "sparsecluster[app]"' in run.stderr
    assert run.stderr.count("\n") == 1
