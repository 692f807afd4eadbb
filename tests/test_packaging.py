"""The package table in pyproject.toml against the tree, and the wheel against both."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("ir", "frontend", "transforms", "backend")
PACKED = ("*.py", "*.pyi", "*.csv", "py.typed", "proofs.json", "validations.json", "assets/*")
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def packages_in_tree() -> set[str]:
    found = {"xductor"}
    for room in ROOMS:
        for init in (ROOT / room).rglob("__init__.py"):
            folder = init.parent.relative_to(ROOT)
            if folder != Path("backend/api"):  # mapped to the package root
                found.add(".".join(("xductor", *folder.parts)))
    return found


def test_every_package_is_listed() -> None:
    """A package missing from the list works in an editable install and is absent from the wheel."""
    assert set(SETUPTOOLS["packages"]) == packages_in_tree()


def test_every_folder_with_code_is_a_package() -> None:
    for room in ROOMS:
        for module in (ROOT / room).rglob("*.py"):
            assert (module.parent / "__init__.py").exists(), f"{module.parent} has no __init__.py"


def test_package_table_maps_each_room() -> None:
    expected = {f"xductor.{room}": room for room in ROOMS} | {"xductor": "backend/api"}
    assert SETUPTOOLS["package-dir"] == expected


def test_every_room_is_marked_as_typed() -> None:
    for room in ROOMS:
        assert (ROOT / room / "py.typed").exists()


def test_the_public_face_stays_thin() -> None:
    files = {path.name for path in (ROOT / "backend/api").iterdir() if path.name != "__pycache__"}
    assert files == {"__init__.py", "__main__.py"}


def test_checker_links_lead_to_the_rooms() -> None:
    tree = ROOT / "tests/typeroot/xductor"
    for room in ROOMS:
        assert (tree / room).resolve() == ROOT / room
    for name in ("__init__.py", "__main__.py"):
        assert (tree / name).resolve() == ROOT / "backend/api" / name


@pytest.mark.parametrize(
    ("group", "name"),
    [
        ("console_scripts", "xductor"),
        ("console_scripts", "xductor-opt"),
        ("torch_dynamo_backends", "xductor"),
        ("xdsl.universe", "xductor"),
    ],
)
def test_entry_points_load(group: str, name: str) -> None:
    (entry,) = entry_points(group=group, name=name)
    assert entry.load() is not None


@pytest.mark.slow
def test_wheel_holds_every_module(tmp_path: Path) -> None:
    # From a copy: setuptools builds in the tree, and packs what an earlier build left there.
    checkout, wheels = tmp_path / "checkout", tmp_path / "wheels"
    for name in (*ROOMS, "pyproject.toml", "README.md", "LICENSE"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, checkout)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", wheels, checkout]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = wheels.glob("xductor-*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("xductor/")}

    expected: set[str] = set()
    for room in ROOMS:
        for pattern in PACKED:
            for path in (checkout / room).rglob(pattern):
                relative = path.relative_to(checkout).as_posix()
                face = relative.removeprefix("backend/api/")
                expected.add("xductor/" + (face if face != relative else relative))
    assert packed == expected


def test_import_is_lazy() -> None:
    """``import xductor`` loads neither torch nor xDSL; asking what it offers does not either."""
    program = (
        "import sys, xductor; dir(xductor); xductor.__version__\n"
        "heavy = {'torch', 'xdsl', 'sympy', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_public_names_resolve() -> None:
    import xductor

    for name in xductor.__all__:
        value = getattr(xductor, name)
        assert name.isupper() or value.__name__ == name  # constants have no name of their own
    assert set(xductor.__all__) <= set(dir(xductor))


def test_unknown_public_name_is_an_attribute_error() -> None:
    import xductor

    with pytest.raises(AttributeError, match="no attribute 'nonesuch'"):
        xductor.nonesuch  # noqa: B018
