//! Stories of the board.
