import { classNames } from '../components/class-names.ts'
import { KeyHint } from '../components/key-hint.tsx'
import { Logo } from '../components/logo.tsx'
import { useShortcut } from '../keyboard/use-shortcut.ts'
import { Link } from '../router/link.tsx'
import { navigate } from '../router/router.ts'
import { SECTIONS, type Section } from '../router/routes.tsx'
import styles from './navigation.module.css'

/** The sections: at the left, or along the bottom of a phone. */
export function Navigation({ path, waiting }: { path: string; waiting: number }) {
  return (
    <nav className={styles.navigation} aria-label="Sections">
      <Link to="/live" className={styles.brand} aria-label="tool-hub: live">
        <Logo /> <span>tool-hub</span>
      </Link>
      <ul className={styles.list}>
        {SECTIONS.map((section) => (
          <Item
            key={section.path}
            section={section}
            isCurrent={isWithin(section, path)}
            count={section.path === '/approvals' ? waiting : 0}
          />
        ))}
      </ul>
    </nav>
  )
}

function Item({ section, isCurrent, count }: { section: Section; isCurrent: boolean; count: number }) {
  const { path, title, key, icon: Icon } = section
  useShortcut(`g ${key}`, `Go to ${title}`, () => navigate(path), { group: 'Go' })
  return (
    <li>
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
            <span className="visually-hidden"> waiting</span>
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
