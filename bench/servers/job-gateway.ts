import { pino } from 'pino';
import { startGateway } from '../../src/bootstrap/start-gateway.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { TaskKinds } from '../../src/tasks/task-kinds.js';
import { JobKind } from '../../test/support/job-kind.js';

/** Starts a gateway in this process whose tasks are jobs of the upstream. */
export async function startJobGateway(
  databaseUrl: string,
  upstreamUrl: string,
  settings: Record<string, string>,
) {
  const config = loadConfig({
    PORT: '0',
    DATABASE_URL: databaseUrl,
    SECRET_KEY: 'a-secret-key-for-benchmarks-only-0123456789',
    SANDBOX: 'off',
    ELEVENLABS_API_KEY: 'none',
    ELEVENLABS_BASE_URL: upstreamUrl,
    ...settings,
  });
  const gateway = await startGateway(config, pino({ level: 'silent' }));
  const kind = new JobKind(upstreamUrl);
  gateway.app.get(TaskKinds).register(kind);
  return {
    app: gateway.app,
    stop: async () => {
      await gateway.stop();
      await kind.close();
    },
  };
}
