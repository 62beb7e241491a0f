import { ChevronLeft, ChevronRight, ExternalLink } from 'lucide-react'
import type { CanvasDetail } from '../../api/types.ts'
import { formatBytes } from '../../components/format-bytes.ts'
import { IconButton } from '../../components/icon-button.tsx'
import { Time } from '../../components/time.tsx'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { useSearchParam } from '../../router/router.ts'
import styles from './canvas.module.css'
import { viewPath } from './canvas-path.ts'
import { useIsDark } from './use-is-dark.ts'

/** The canvas in its frame, and its versions to step through; the latest follows what the agent does. */
export function CanvasView({ canvas }: { canvas: CanvasDetail }) {
  const { id, title, versions, latest } = canvas
  const [wanted, setWanted] = useSearchParam('version')
  const isDark = useIsDark()
  const shown = versions.find(({ n }) => String(n) === wanted) ?? latest
  const at = versions.findIndex(({ n }) => n === shown.n)
  const goTo = (index: number) => {
    const next = versions[index]
    if (next) setWanted(next.n === latest.n ? '' : String(next.n))
  }
  useShortcut('[', 'Version before', () => goTo(at - 1))
  useShortcut(']', 'Version after', () => goTo(at + 1))
  const path = viewPath(id, shown.n, isDark ? 'dark' : 'light')
  return (
    <>
      {/* Made anew for each: another address in the same frame would be a step of the browser's history. */}
      <iframe
        key={path}
        className={styles.frame}
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        title={title}
        src={path}
      />
      <footer className={styles.versions}>
        <IconButton
          label="Version before"
          icon={ChevronLeft}
          shortcut="["
          disabled={at <= 0}
          onClick={() => goTo(at - 1)}
        />
        <span aria-live="polite">
          Version {shown.n} of {latest.n}
        </span>
        <IconButton
          label="Version after"
          icon={ChevronRight}
          shortcut="]"
          disabled={at === versions.length - 1}
          onClick={() => goTo(at + 1)}
        />
        <span className={styles.muted}>
          {formatBytes(shown.bytes)}, <Time at={shown.at} />
        </span>
        <a className={styles.open} href={path} target="_blank" rel="noopener noreferrer">
          <ExternalLink size={14} aria-hidden="true" /> Open in a new tab
        </a>
      </footer>
    </>
  )
}
