/** What an owner says about memory. */
export type MemoryOptions = {}

/** The handle of a tool that declares the capability. */
export type MemoryHandle = {}

/** What the owner of a hub uses. */
export type MemoryDesk = {}
