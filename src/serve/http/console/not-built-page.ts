/** What people see where the console should be; it has no style, as the rules for pages allow none inside a page. */
export const NOT_BUILT_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tool-hub</title>
</head>
<body>
<h1>tool-hub is running</h1>
<p>The console is not in this build. In a checkout of tool-hub, <code>npm run build</code> makes it; the published package has it.</p>
<p>Everything else works: agents call at <code>/v1/tools/{name}/call</code> and <code>/mcp</code>, and <a href="/openapi.json">/openapi.json</a> says what else there is.</p>
</body>
</html>
`
