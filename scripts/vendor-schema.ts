import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { VENDOR_SCHEMA } from '../src/providers/async-json/vendor-faults.js';

/** `npm run vendor:schema`: writes the JSON Schema of the files of vendors, as the check of a file has it. */
const file = fileURLToPath(new URL('../vendors/vendor.schema.json', import.meta.url));
const style = await resolveConfig(file);
const text = await format(JSON.stringify(VENDOR_SCHEMA), { ...style, parser: 'json' });
await writeFile(file, text);
