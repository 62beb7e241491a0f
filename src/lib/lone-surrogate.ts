/** Half of a character that takes two units of UTF-16, standing alone: nothing that UTF-8 can hold. */
export const LONE_SURROGATE = /\p{Surrogate}/u
