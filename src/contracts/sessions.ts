/** What an owner says about sessions. */
export type SessionsOptions = {}

/** The handle of a tool that declares the capability. */
export type SessionHandle = {}

/** What the owner of a hub uses. */
export type SessionDesk = {}
