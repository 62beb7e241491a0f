/** What an owner says about browser. */
export type BrowserOptions = {}

/** The handle of a tool that declares the capability. */
export type BrowserHandle = {}

/** What the owner of a hub uses. */
export type BrowserDesk = {}
