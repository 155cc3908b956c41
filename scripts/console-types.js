// `npm run console:types`: writes the types of openapi.json, which the sources of the console are checked against.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import openapiTypes, { astToString } from 'openapi-typescript';

const document = JSON.parse(readFileSync('openapi.json', 'utf8'));
mkdirSync('dist', { recursive: true });
writeFileSync('dist/console-api.d.ts', astToString(await openapiTypes(document)));
