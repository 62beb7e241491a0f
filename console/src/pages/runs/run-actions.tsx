import { Download, ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { useMe } from '../../api/use-me.ts'
import buttonStyles from '../../components/button.module.css'
import { Button } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { useShortcut } from '../../keyboard/use-shortcut.ts'
import { RemoveRun } from './remove-run.tsx'
import styles from './run-actions.module.css'
import { VerifyDialog } from './verify-dialog.tsx'

/** What can be done with the record of a run: check it, take it along, remove it. */
export function RunActions({ run }: { run: string }) {
  const isAdmin = useMe().may('admin')
  const [isVerifying, setVerifying] = useState(false)
  useShortcut('v', 'Verify the record', () => setVerifying(true))
  return (
    <>
      <Button icon={ShieldCheck} shortcut="v" onClick={() => setVerifying(true)}>
        Verify
      </Button>
      <a
        className={classNames(buttonStyles.button, buttonStyles.secondary, buttonStyles.normal, styles.link)}
        href={`/v1/runs/${encodeURIComponent(run)}/export`}
        download={`${run}.jsonl`}
        title="The record as it is on disk, a JSON value a line"
      >
        <Download size={15} aria-hidden="true" /> Export
      </a>
      {isAdmin && <RemoveRun run={run} />}
      {isVerifying && <VerifyDialog run={run} onClose={() => setVerifying(false)} />}
    </>
  )
}
