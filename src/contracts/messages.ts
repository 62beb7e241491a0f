/** What an owner says about messages. */
export type MessagesOptions = {}

/** The handle of a tool that declares the capability. */
export type MessageHandle = {}

/** What the owner of a hub uses. */
export type MessageDesk = {}
