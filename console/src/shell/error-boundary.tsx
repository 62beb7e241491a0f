import { Component, type ReactNode } from 'react'
import { ErrorState } from '../components/error-state.tsx'

interface State {
  readonly error?: Error
}

/** A page that fails shows why, and leaves the rest of the console alone. */
export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = {}

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override render() {
    const { error } = this.state
    // A page whose file is gone after an update of the server comes back with the new one.
    if (error) return <ErrorState error={error} onRetry={() => window.location.reload()} />
    return this.props.children
  }
}
