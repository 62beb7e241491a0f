import { useRef, useState } from 'react'
import { api } from '../../../api/api.ts'
import type { PolicyExplanation, ToolResult } from '../../../api/types.ts'

/** What would happen to a call with this input. */
export interface Forecast {
  /** JSON of the input that it is about. */
  readonly about: string
  readonly dryRun: ToolResult
  readonly explanation: PolicyExplanation
}

interface ForecastState {
  readonly forecast?: Forecast
  readonly error?: Error
  readonly isBusy: boolean
}

/** Asks by a dry run and by policy what a call would come to; nothing is executed. */
export function useForecast(tool: string, run: string) {
  const [state, setState] = useState<ForecastState>({ isBusy: false })
  const latest = useRef(0)
  const ask = async (input: unknown) => {
    latest.current += 1
    const own = latest.current
    setState((known) => ({ ...known, error: undefined, isBusy: true }))
    try {
      const dryRun = await api.call(tool, input, { dryRun: true, run })
      const explanation = await api.policy.explain({ tool, input, run })
      if (own === latest.current)
        setState({ isBusy: false, forecast: { about: JSON.stringify(input), dryRun, explanation } })
    } catch (error) {
      if (own === latest.current) setState({ isBusy: false, error: error as Error })
    }
  }
  return { ...state, ask }
}
