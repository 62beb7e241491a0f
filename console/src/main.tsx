/*
 * CONTEXT: how a page is made.
 *
 * - A page is `pages/<section>/<name>-page.tsx` with a default export that takes `PageProps`; router/routes.tsx gives
 *   it a path. It is loaded when it is first opened. What only it needs lies beside it; what two need, in
 *   components/, what shows or reads calls, in calls/, and what lives without a component, in state/.
 * - It is a `<Page title=…>` (with `fill` where a Table scrolls inside). Data comes by
 *   `useQuery('runs', () => api.runs.list(), { refreshOn: ['run'] })`, shown by `<Loaded query={…}>{(data) => …}</Loaded>`, which
 *   also draws the skeleton and the error. After a change: `refreshQueries('runs')`; a failed one: `showFailure`.
 *   Single events come by `useEvents(listener, ['call'])`. Who is signed in, and what it may do: `useMe()`.
 * - Lists are `<Table>`s under a `<FilterBar>`; filters are `useSearchParam`s, so that an address shows the same again.
 *   Empty ones have an `<EmptyState>` that says what to do next.
 * - Keys: `useShortcut('a', 'Allow', run)`; they appear in the help (`?`) by themselves.
 * - Text from tools, models and files goes through `<VisibleText>`, `<Code>`, `<JsonView>` or `<DiffView>`, never bare.
 * - CSS: a module beside each component, only with what styles/tokens.css has. State is told by an icon or a word, never
 *   by colour alone. Nothing inline: no `<style>`, no style in HTML, no script (the service sends a strict CSP).
 */
import './styles/tokens.css'
import './styles/base.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { applyTheme } from './theme/theme.ts'

applyTheme()
createRoot(document.getElementById('root') as HTMLElement).render(<App />)
