import { useMe } from '../api/use-me.ts'
import { classNames } from '../components/class-names.ts'
import { KeyHint } from '../components/key-hint.tsx'
import { Logo } from '../components/logo.tsx'
import { useShortcut } from '../keyboard/use-shortcut.ts'
import { Link } from '../router/link.tsx'
import { navigate } from '../router/router.ts'
import { SECTIONS, type Section } from '../router/routes.tsx'
import styles from './navigation.module.css'
import { SectionMenu } from './section-menu.tsx'

/** How many of something a section has for whoever looks, and the word after the number. */
export type SectionCounts = Readonly<Record<string, readonly [count: number, word: string]>>

/** So many fit along the bottom of a phone; the menu has the others. */
const PHONE_SECTIONS = 4

/** The sections: at the left, or along the bottom of a phone. */
export function Navigation({ path, counts }: { path: string; counts: SectionCounts }) {
  const { may } = useMe()
  const sections = SECTIONS.filter(({ scope }) => scope === undefined || may(scope))
  const current = sections.find((section) => isWithin(section, path))
  return (
    <nav className={styles.navigation} aria-label="Sections">
      <Link to="/live" className={styles.brand} aria-label="tool-hub: live">
        <Logo /> <span>tool-hub</span>
      </Link>
      <ul className={styles.list}>
        {sections.map((section, index) => (
          <Item
            key={section.path}
            section={section}
            isCurrent={section === current}
            isInMenu={index >= PHONE_SECTIONS}
            counted={counts[section.path]}
          />
        ))}
        <SectionMenu
          sections={sections}
          current={current}
          isMarked={current !== undefined && sections.indexOf(current) >= PHONE_SECTIONS}
        />
      </ul>
    </nav>
  )
}

interface ItemProps {
  readonly section: Section
  readonly isCurrent: boolean
  /** On a phone it is in the menu only. */
  readonly isInMenu: boolean
  readonly counted: SectionCounts[string] | undefined
}

function Item({ section, isCurrent, isInMenu, counted: [count, word] = [0, ''] }: ItemProps) {
  const { path, title, key, icon: Icon, startsGroup } = section
  useShortcut(`g ${key}`, `Go to ${title}`, () => navigate(path), { group: 'Go' })
  return (
    <li className={classNames(startsGroup && styles.apart, isInMenu && styles.inMenu)}>
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
