/** The tool that takes changes back; only the owner calls it, by `hub.undo`. */
export const UNDO_TOOL = 'core/fs.undo'
