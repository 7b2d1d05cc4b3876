# Every target does all it needs by itself: the virtual environment, the build, the run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test cpp-test generate lint

demo: $(VENV)/.built
	$(BIN)/metrik demo

test: $(VENV)/.test cpp-test
	$(BIN)/python -m pytest

# The core by itself. Without doctest (Debian: doctest-dev) CMake says that it builds no tests.
cpp-test:
	cmake -S . -B build/cpp -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMETRIK_BUILD_TESTS=ON -DMETRIK_WERROR=ON \
		-DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS
	cmake --build build/cpp --parallel
	ctest --test-dir build/cpp --output-on-failure

# What is generated from the code and committed: README tables, the stubs.
generate: $(VENV)/.test
	$(BIN)/python tests/generate.py

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(shell git ls-files '*.hpp' '*.cpp')
	$(BIN)/python tests/tidy.py

$(VENV)/.built: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install --group build
	$(PIP) install --no-build-isolation --editable . -Ccmake.define.METRIK_WERROR=ON
	touch $@

$(VENV)/.test: $(VENV)/.built
	$(PIP) install --group test
	touch $@

$(VENV)/.lint: $(VENV)/.test
	$(PIP) install --group lint
	touch $@
