// A gateway of the build in a process of its own; the settings are its argument. It tells where it is, hears which test file
// calls it next, and ends when its parent lets go.
import { pino } from 'pino';
import { startGateway } from '../../dist/bootstrap/start-gateway.js';
import { loadConfig } from '../../dist/platform/config/load-config.js';
import { noteOperations } from './built/core-endpoints.js';
import { noteUndescribed } from './built/described-answers.js';

let testPath = '';
process.on('message', (file) => (testPath = file));
noteOperations(() => testPath);
noteUndescribed(() => testPath);

const config = loadConfig(JSON.parse(process.argv[2]));
// Each line that is written is a defect.
const gateway = await startGateway(config, pino({ level: 'fatal' }));
process.once('disconnect', () => void gateway.stop().finally(() => process.exit()));
process.send({ url: gateway.url, sandboxUrl: new URL(gateway.sandbox.mediaUrl).origin });
