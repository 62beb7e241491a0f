import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { Button } from '../../components/button.tsx'
import styles from './policy.module.css'
import { completionsAt, type KnownTool } from './rule-completions.ts'
import { indentLines, newLineIndent, rangeOfLine, type TextEdit } from './text-edits.ts'

interface YamlEditorProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** Called on Ctrl+Enter. */
  readonly onSubmit: () => void
  /** A line to select; `onGone` is called afterwards. */
  readonly goTo: number | undefined
  readonly onGone: () => void
  /** The tools that are offered as completions. */
  readonly tools: readonly KnownTool[]
}

const MIN_ROWS = 12

/** A text editor with line numbers. Tab indents only while the user is typing; after Escape it moves the focus. */
export function YamlEditor({ label, value, onChange, onSubmit, goTo, onGone, tools }: YamlEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const takesTab = useRef(false)
  const id = useId()
  const [caret, setCaret] = useState<number>()
  const completions = caret === undefined ? [] : completionsAt(value, caret, tools)
  const rows = Math.max(MIN_ROWS, value.split('\n').length + 1)

  useEffect(() => {
    const element = area.current
    if (goTo === undefined || !element) return
    element.focus()
    element.setSelectionRange(...rangeOfLine(element.value, goTo))
    onGone()
  }, [goTo, onGone])

  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const { selectionStart, selectionEnd, value: text } = event.currentTarget
    if (event.key === 'Escape') takesTab.current = false
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      return onSubmit()
    }
    if (event.key === ' ' && event.ctrlKey && completions[0]) {
      event.preventDefault()
      return insert(event.currentTarget, completions[0].edit)
    }
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault()
      return insert(event.currentTarget, { ...newLineIndent(text, selectionStart), to: selectionEnd })
    }
    if (event.key !== 'Tab' || !takesTab.current || event.ctrlKey || event.altKey) return
    event.preventDefault()
    insert(event.currentTarget, indentLines(text, selectionStart, selectionEnd, event.shiftKey ? 'out' : 'in'))
  }
  return (
    <div>
      <div className={styles.editor}>
        <div className={styles.numbers} aria-hidden="true">
          {Array.from({ length: rows }, (_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no other name than its number.
            <span key={index} />
          ))}
        </div>
        <textarea
          ref={area}
          className={styles.text}
          aria-label={label}
          aria-describedby={id}
          rows={rows}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          value={value}
          onChange={({ target }) => {
            takesTab.current = true
            onChange(target.value)
          }}
          onKeyDown={press}
          onSelect={({ currentTarget: { selectionStart, selectionEnd } }) =>
            setCaret(selectionStart === selectionEnd ? selectionStart : undefined)
          }
          onBlur={() => {
            takesTab.current = false
          }}
        />
      </div>
      <p id={id} className={styles.hint}>
        Tab indents while you type; Escape, then Tab leaves the text. Ctrl+Space completes a name, Ctrl+Enter tests it.
      </p>
      {completions.length > 0 && (
        <fieldset className={styles.row} aria-label="Completions">
          {completions.map(({ label: name, edit }) => (
            <Button key={name} variant="quiet" onClick={() => area.current && complete(area.current, edit)}>
              {name}
            </Button>
          ))}
        </fieldset>
      )}
    </div>
  )
}

function complete(area: HTMLTextAreaElement, edit: TextEdit): void {
  area.focus()
  insert(area, edit)
}

// The only way of editing that keeps the undo history of the browser.
function insert(area: HTMLTextAreaElement, { from, to, text, select }: TextEdit): void {
  area.setSelectionRange(from, to)
  if (!document.execCommand('insertText', false, text)) {
    area.setRangeText(text, from, to, 'end')
    area.dispatchEvent(new Event('input', { bubbles: true }))
  }
  area.setSelectionRange(...select)
}
