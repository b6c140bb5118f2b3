// The page of the panel: nothing but its own script and style runs or is loaded in it.

/** Where the page finds what it is made of. */
export interface Parts {
  /** What VS Code serves the extension's own files from. */
  source: string
  script: string
  style: string
  /** Counts for this page only. */
  nonce: string
}

/** The page. What it shows comes by messages, as text. */
export function page({ source, script, style, nonce }: Parts): string {
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${source}; base-uri 'none'; form-action 'none'`
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Debug Tab</title>
</head>
<body>
<header>
<div id="tab"><h1 id="title"></h1><span id="of"></span><span id="address"></span></div>
<div id="state"><span id="text" role="status"></span><button id="remedy" type="button" hidden></button></div>
<div id="lists" role="tablist" aria-label="Lists">
<button id="to-console" type="button" role="tab" aria-controls="console" aria-selected="true">Console</button>
<button id="to-network" type="button" role="tab" aria-controls="network" aria-selected="false" tabindex="-1">Network</button>
</div>
</header>
<main data-shown="console">
<section id="console" aria-label="Console">
<div class="bar">
<h2>Console</h2>
<input id="line-filter" type="search" placeholder="Filter" aria-label="Filter the console by text" spellcheck="false">
<select id="level" aria-label="From which level on"></select>
<button id="clear-console" type="button">Clear</button>
</div>
<p id="lines-missing" class="missing" role="status" hidden></p>
<div id="lines" class="rows" role="log" aria-label="Lines of the console" tabindex="0"></div>
</section>
<section id="network" aria-label="Network">
<div class="bar">
<h2>Network</h2>
<input id="request-filter" type="search" placeholder="Filter" aria-label="Filter requests by text" spellcheck="false">
<button id="clear-network" type="button">Clear</button>
</div>
<p id="requests-missing" class="missing" role="status" hidden></p>
<div class="beside">
<div id="requests" class="rows" role="listbox" aria-label="Requests"></div>
<aside id="details" aria-label="The chosen request" tabindex="-1" hidden></aside>
</div>
</section>
</main>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`
}
