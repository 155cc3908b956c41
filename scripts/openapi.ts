import 'reflect-metadata';
import { readFile, writeFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import { pino } from 'pino';
import { AppModule } from '../src/app.module.js';
import { openApiDocument } from '../src/bootstrap/openapi/api-document.js';
import { loadConfig } from '../src/platform/config/load-config.js';

/**
 * Writes `openapi.json` from the controllers (`npm run openapi`); with `--check` only compares and exits with 1 when
 * the committed file differs. Preview mode builds the module graph without making a provider, so no database is needed.
 */
const FILE = new URL('../openapi.json', import.meta.url);

const module = AppModule.forRoot({
  config: loadConfig({}),
  logger: pino({ level: 'silent' }),
  catalog: { rows: [], providers: [] },
  providers: { providers: [] },
});
const app = await NestFactory.create(module, { preview: true, logger: false, abortOnError: false });
const text = `${JSON.stringify(openApiDocument(app), null, 2)}\n`;

if (!process.argv.includes('--check')) await writeFile(FILE, text);
else if ((await readFile(FILE, 'utf8').catch(() => '')) !== text) {
  process.stderr.write('openapi.json is not what the controllers say: run `npm run openapi`.\n');
  process.exitCode = 1;
}
