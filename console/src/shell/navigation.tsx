import { useEffect, useRef } from 'react'
import { classNames } from '../components/class-names.ts'
import { KeyHint } from '../components/key-hint.tsx'
import { Logo } from '../components/logo.tsx'
import { useShortcut } from '../keyboard/use-shortcut.ts'
import { Link } from '../router/link.tsx'
import { navigate } from '../router/router.ts'
import { SECTIONS, type Section } from '../router/routes.tsx'
import styles from './navigation.module.css'

/** How many of something a section has for whoever looks, and the word after the number. */
export type SectionCounts = Readonly<Record<string, readonly [count: number, word: string]>>

/** The sections: at the left, or along the bottom of a phone. */
export function Navigation({ path, counts }: { path: string; counts: SectionCounts }) {
  const list = useRef<HTMLUListElement>(null)
  // On a phone there are more than fit.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another path is what moves the mark.
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  return (
    <nav className={styles.navigation} aria-label="Sections">
      <Link to="/live" className={styles.brand} aria-label="tool-hub: live">
        <Logo /> <span>tool-hub</span>
      </Link>
      <ul ref={list} className={styles.list}>
        {SECTIONS.map((section) => (
          <Item
            key={section.path}
            section={section}
            isCurrent={isWithin(section, path)}
            counted={counts[section.path]}
          />
        ))}
      </ul>
    </nav>
  )
}

interface ItemProps {
  readonly section: Section
  readonly isCurrent: boolean
  readonly counted: SectionCounts[string] | undefined
}

function Item({ section, isCurrent, counted: [count, word] = [0, ''] }: ItemProps) {
  const { path, title, key, icon: Icon, startsGroup } = section
  useShortcut(`g ${key}`, `Go to ${title}`, () => navigate(path), { group: 'Go' })
  return (
    <li className={classNames(startsGroup && styles.apart)}>
      <Link
        to={path}
        className={classNames(styles.link, isCurrent && styles.current)}
        aria-current={isCurrent ? 'page' : undefined}
      >
        <Icon size={16} aria-hidden="true" />
        <span className={styles.title}>{title}</span>
        {count > 0 && (
          <span className={styles.count}>
            {count > 99 ? '99+' : count}
            <span className="visually-hidden"> {word}</span>
          </span>
        )}
        <span className={styles.hint}>
          <KeyHint keys={`g ${key}`} />
        </span>
      </Link>
    </li>
  )
}

function isWithin(section: Section, path: string): boolean {
  if (path === '/') return section.path === '/live'
  return path === section.path || path.startsWith(`${section.path}/`)
}
