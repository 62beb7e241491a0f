import { ArrowLeft, CircleCheck, CircleX, type LucideIcon } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { classNames } from '../lib/class-names.ts'
import { useMediaQuery } from '../lib/hooks.ts'
import { useShortcut } from '../lib/shortcuts.ts'
import { navigate } from '../router/router.ts'
import { neighbourOf, stepFrom } from './list-steps.ts'
import styles from './split-view.module.css'
import { VisibleText } from './text.tsx'
import { Time } from './time.tsx'

/** The width at which list and details do not fit next to each other; the CSS uses the same. */
const NARROW_SPLIT = '(max-width: 900px)'

/** A list with the selected item next to it; on a narrow screen only one of them. */
export function SplitView({ side, detail }: { side: ReactNode; detail: ReactNode }) {
  return (
    <div className={styles.view} data-opened={detail ? true : undefined}>
      <div className={styles.side}>{side}</div>
      {detail}
    </div>
  )
}

interface SplitDetailProps {
  readonly label: string
  /** The address of the list, for a narrow screen. */
  readonly backTo: string
  readonly backWords: string
  readonly children: ReactNode
}

/** The selected item: a `SplitBody`, and a `SplitBar` with its actions. */
export function SplitDetail({ label, backTo, backWords, children }: SplitDetailProps) {
  return (
    <section className={styles.detail} aria-label={label}>
      <Link to={backTo} className={styles.back}>
        <ArrowLeft size={14} aria-hidden="true" /> {backWords}
      </Link>
      {children}
    </section>
  )
}

/** The content; it scrolls. */
export function SplitBody({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys.
    <section className={styles.scroller} tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}

/** The actions; always visible. */
export function SplitBar({ label, isRow = false, children }: { label: string; isRow?: boolean; children: ReactNode }) {
  return (
    <section className={classNames(styles.bar, isRow && styles.row)} aria-label={label}>
      {children}
    </section>
  )
}

interface SplitListProps {
  readonly label: string
  readonly selected: string | undefined
  /** The `SplitRow`s, and anything after them. */
  readonly children: ReactNode
}

/** The list of rows; the selected row is scrolled into view. */
export function SplitList({ label, selected, children }: SplitListProps) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    if (selected !== undefined) list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  return (
    <ul ref={list} className={styles.list} aria-label={label}>
      {children}
    </ul>
  )
}

interface SplitRowProps {
  readonly to: string
  readonly isSelected: boolean
  readonly icon: LucideIcon
  readonly title: ReactNode
  readonly side: ReactNode
  /** A preview of one line. */
  readonly preview: ReactNode
  readonly meta: ReactNode
  /** It is unread. */
  readonly isNew?: boolean
  /** A separate link below the row, such as to its run. */
  readonly below?: ReactNode
}

/** A row: title, preview, author and time. */
export function SplitRow(props: SplitRowProps) {
  const { to, isSelected, icon: Icon, title, side, preview, meta, isNew = false, below } = props
  return (
    <li className={styles.item}>
      <Link
        to={to}
        className={classNames(styles.listRow, isNew && styles.new)}
        aria-current={isSelected ? 'true' : undefined}
      >
        <Icon size={16} aria-hidden="true" className={styles.icon} />
        <span className={styles.title}>{title}</span>
        <span className={styles.rowSide}>{side}</span>
        <span className={styles.preview}>{preview}</span>
        <span className={styles.meta}>{meta}</span>
      </Link>
      {below !== undefined && <div className={styles.below}>{below}</div>}
    </li>
  )
}

interface ChosenOptions {
  readonly list: readonly { readonly id: string }[] | undefined
  /** The id of the selected item, from the address. */
  readonly id: string | undefined
  readonly pathOf: (id: string | undefined) => string
  /** Selects the first item if there is enough room. Default: true. */
  readonly opensFirst?: boolean
  /** Items leave the list when they are done, and must not be selected again before that. Default: true. */
  readonly leaves?: boolean
}

/** Selects items of a split view by keys, and the next item when one is done. */
export function useSelection({ list, id, pathOf, opensFirst = true, leaves = true }: ChosenOptions): {
  selectNext(): void
} {
  const isNarrow = useMediaQuery(NARROW_SPLIT)
  // The address fixes the selection: an item that arrives later never replaces the one that the user looks at.
  const done = useRef<string>(undefined)
  const first = list?.find((each) => !leaves || each.id !== done.current)?.id
  const firstPath = opensFirst && !isNarrow && id === undefined && first !== undefined ? pathOf(first) : undefined
  useEffect(() => {
    if (firstPath !== undefined) navigate(firstPath, { replace: true })
  }, [firstPath])

  // An item that has left the list may come back, such as a script that asks again.
  useEffect(() => {
    if (list && !list.some((each) => each.id === done.current)) done.current = undefined
  }, [list])

  const step = (by: number) => {
    const next = stepFrom(list ?? [], id, by)
    if (next !== undefined) navigate(pathOf(next), { replace: id !== undefined })
  }
  useShortcut('j', 'Next', () => step(1))
  useShortcut('k', 'Previous', () => step(-1))
  return {
    selectNext() {
      done.current = id
      navigate(pathOf(isNarrow ? undefined : neighbourOf(list ?? [], id ?? '')), { replace: true })
    },
  }
}

/** A decision and its subject. */
export interface Done {
  readonly words: string
  readonly isYes: boolean
  readonly subject: string
  readonly at: number
}

/** Shows the last decision below the list: a toast would cover the buttons of the next item. */
export function LastDone({ done }: { done: Done | undefined }) {
  const Icon = done?.isYes ? CircleCheck : CircleX
  return (
    <p className={styles.last} role="status" data-empty={done === undefined || undefined}>
      {done && (
        <>
          <Icon size={14} aria-hidden="true" className={done.isYes ? styles.yes : styles.no} />
          <span>
            {done.words} <VisibleText text={done.subject} />, <Time at={done.at} />
          </span>
        </>
      )}
    </p>
  )
}
