/** Keys that write nothing: those that move, delete or send, and chords. */
const WRITES_NOTHING =
  /^(?:.*(?:Control|ControlOrMeta|Meta|Alt)\+.+|(?:Shift\+)*(?:Enter|Tab|Escape|Space|Backspace|Delete|Insert|Home|End|PageUp|PageDown|Arrow(?:Up|Down|Left|Right)|F\d{1,2}))$/

/** What policy judges an action as: keys that write and answers to dialogs are typing, too, since they put data into a page. */
export function browserTargets(
  action: string,
  { key, text }: { readonly key?: string | undefined; readonly text?: string | undefined },
): string[] {
  const isTyping =
    (action === 'press' && key !== undefined && !WRITES_NOTHING.test(key)) || (action === 'dialog' && Boolean(text))
  return isTyping ? [action, 'type'] : [action]
}
