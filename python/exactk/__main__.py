from __future__ import annotations

import sys

from exactk._cli import main

if __name__ == "__main__":
    sys.exit(main())
