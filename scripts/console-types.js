// `npm run console:types`: writes the types of openapi.json, which the sources of the console are checked against. A file that is right
// already is not touched, because a check that runs beside this may be reading it.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import openapiTypes, { astToString } from 'openapi-typescript';

const document = JSON.parse(readFileSync('openapi.json', 'utf8'));
const text = astToString(await openapiTypes(document));
const FILE = 'dist/console-api.d.ts';
if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) {
  mkdirSync('dist', { recursive: true });
  writeFileSync(FILE, text);
}
