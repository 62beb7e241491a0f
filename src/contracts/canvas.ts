/** What an owner says about canvas. */
export type CanvasOptions = {}

/** The handle of a tool that declares the capability. */
export type CanvasHandle = {}

/** What the owner of a hub uses. */
export type CanvasDesk = {}
