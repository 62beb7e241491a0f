import { Eye, Play } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { ToolEntry } from '../../../api/types.ts'
import { useMe } from '../../../api/use-me.ts'
import { Button } from '../../../components/button.tsx'
import { ErrorState } from '../../../components/error-state.tsx'
import { Note } from '../../../components/note.tsx'
import { checkValue, type Problems } from '../../../components/schema-form/check-value.ts'
import { SchemaForm } from '../../../components/schema-form/schema-form.tsx'
import { useCalm } from '../../../keyboard/use-calm.ts'
import { useValue } from '../../../state/create-value.ts'
import { exampleInput } from '../example-input.ts'
import { IDLE } from './call-state.ts'
import { FollowedCall } from './followed-call.tsx'
import { ForecastView } from './forecast-view.tsx'
import { PurposeField } from './purpose-field.tsx'
import { cancelCall, forgetCall, startCall, toolCalls } from './tool-calls.ts'
import { tryRun } from './try-run.ts'
import styles from './try-tool.module.css'
import { useDraft } from './use-draft.ts'
import { useForecast } from './use-forecast.ts'

/** A form made from a tool's parameters: first what would happen, then the call. */
export function TryTool({ tool }: { tool: ToolEntry }) {
  const me = useMe()
  const run = tryRun(me.principal.name)
  const schema = useMemo(() => ({ type: 'object', properties: {}, ...tool.parameters }), [tool])
  const [input, setInput] = useDraft(tool.tool, () => exampleInput(tool.parameters))
  const [purpose, setPurpose] = useState('')
  const [problems, setProblems] = useState<Problems>()
  const { forecast, error, isBusy, ask } = useForecast(tool.tool, run)
  const call = useValue(toolCalls).get(tool.tool) ?? IDLE
  // A second click is not a second call: it counts from when the last one ended.
  const calm = useCalm(`${call.phase} ${call.callId} ${forecast?.about}`)
  if (!me.may('call')) {
    return (
      <Note tone="warn" title="You may not call tools">
        Your sign-in has no scope call. Sign in with a token that has it:{' '}
        <code>tool-hub tokens add NAME --scopes call</code>
      </Note>
    )
  }
  if (!tool.visible) {
    return (
      <Note tone="warn" title="It cannot be tried while it is hidden from you">
        A call would be refused. What has to change for it to be seen stands above.
      </Note>
    )
  }
  const change = (next: unknown) => {
    setInput(next)
    setProblems(undefined)
  }
  const look = () => {
    const found = checkValue(schema, input)
    setProblems(found)
    if (found.size === 0) void ask(input)
  }
  const isForeseen = forecast?.about === JSON.stringify(input)
  const mayPass = isForeseen && (forecast.dryRun.ok || forecast.dryRun.status === 'approval_required')
  const isRunning = call.phase === 'running'
  return (
    <div className={styles.try}>
      <SchemaForm schema={schema} value={input} onChange={change} problems={problems} />
      {problems !== undefined && problems.size > 0 && (
        <Note
          isLive
          tone="bad"
          title={problems.size === 1 ? 'One field needs a look' : `${problems.size} fields need a look`}
        />
      )}
      {mayPass && forecast.explanation.effect === 'ask' && <PurposeField value={purpose} onChange={setPurpose} />}
      <div className={styles.actions}>
        <Button
          variant={mayPass ? 'secondary' : 'primary'}
          icon={Eye}
          isBusy={isBusy}
          disabled={isRunning}
          onClick={look}
        >
          What would happen
        </Button>
        <Button
          variant={mayPass ? 'primary' : 'secondary'}
          icon={Play}
          disabled={!mayPass || isRunning}
          calm={calm}
          onClick={() => void startCall(tool.tool, input, { run, purpose: purpose || undefined })}
        >
          Call
        </Button>
        {!isForeseen && <span className={styles.hint}>Look what would happen first; then it can be called.</span>}
      </div>
      {error && <ErrorState error={error} onRetry={look} />}
      {forecast && <ForecastView forecast={forecast} isOld={!isForeseen} />}
      <FollowedCall
        run={run}
        state={call}
        onCancel={() => cancelCall(tool.tool)}
        onForget={() => forgetCall(tool.tool)}
      />
    </div>
  )
}
