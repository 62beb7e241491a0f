import { Dialog } from '../components/dialog.tsx'
import { KeyHint } from '../components/key-hint.tsx'
import { shortcuts } from '../keyboard/shortcuts.ts'
import { useValue } from '../state/create-value.ts'
import styles from './help-dialog.module.css'

/** Every key that holds on this page. */
export function HelpDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const groups = Map.groupBy(useValue(shortcuts), ({ group }) => group)
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Keys" isWide>
      <div className={styles.groups}>
        {[...groups].map(([group, keys]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl className={styles.list}>
              {[...new Map(keys.map((shortcut) => [shortcut.keys, shortcut])).values()].map(({ keys: press, what }) => (
                <div key={press} className={styles.row}>
                  <dt>
                    <span className="visually-hidden">{press}</span>
                    <KeyHint keys={press} />
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
