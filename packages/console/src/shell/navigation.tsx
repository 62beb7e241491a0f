import { Menu } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { useMe } from '../api/session.ts'
import { KeyHint } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Logo } from '../components/logo.tsx'
import { classNames } from '../lib/class-names.ts'
import { useShortcut } from '../lib/shortcuts.ts'
import { navigate } from '../router/router.ts'
import { SECTIONS, type Section } from '../router/routes.tsx'
import styles from './navigation.module.css'

/** The count of a section, by its path, and the word after the number. */
type SectionCounts = Readonly<Record<string, readonly [count: number, word: string]>>

/** How many sections fit along the bottom of a phone; the others are in the menu. */
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
  /** On a phone it is only in the menu. */
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

interface SectionMenuProps {
  readonly sections: readonly Section[]
  readonly current: Section | undefined
  readonly isMarked: boolean
}

/** On a phone: the button that opens the list of all sections; marked if the current section is only in that list. */
function SectionMenu({ sections, current, isMarked }: SectionMenuProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <li className={styles.menu}>
      <button
        type="button"
        className={classNames(styles.link, styles.menuButton, isMarked && styles.current)}
        aria-label={isMarked && current ? `${current.title}, menu of all sections` : 'Menu'}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <Menu size={16} aria-hidden="true" />
        <span className={styles.title}>{isMarked && current ? current.title : 'Menu'}</span>
      </button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title="Sections">
        <nav aria-label="All sections">
          <ul className={styles.all}>
            {sections.map(({ path, title, icon: Icon }) => (
              <li key={path}>
                <Link
                  to={path}
                  className={classNames(styles.choice, path === current?.path && styles.current)}
                  aria-current={path === current?.path ? 'page' : undefined}
                  onClick={() => setOpen(false)}
                >
                  <Icon size={18} aria-hidden="true" /> {title}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      </Dialog>
    </li>
  )
}
