/** Bytes of a SKILL.md that are looked at for what it says of itself: its frontmatter ends within them. */
export const HEAD_BYTES = 65_536
