import { Menu } from 'lucide-react'
import { useState } from 'react'
import { classNames } from '../components/class-names.ts'
import { Dialog } from '../components/dialog.tsx'
import { Link } from '../router/link.tsx'
import type { Section } from '../router/routes.tsx'
import styles from './navigation.module.css'

interface SectionMenuProps {
  readonly sections: readonly Section[]
  readonly current: Section | undefined
  readonly isMarked: boolean
}

/** On a phone: the button behind which all sections are; marked when the one that is shown has no button of its own. */
export function SectionMenu({ sections, current, isMarked }: SectionMenuProps) {
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
