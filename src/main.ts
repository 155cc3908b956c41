// First, and the rest only after it: an older Node.js cannot load the rest.
import '../scripts/require-node.js';

const { answerOption } = await import('./bootstrap/main-options.js');
if (!(await answerOption(process.argv.slice(2)))) {
  // Before the gateway, because they hold for what is loaded after them.
  await import('./bootstrap/runtime-settings.js');
  const { bootstrap } = await import('./bootstrap/bootstrap.js');
  const { startupError } = await import('./bootstrap/startup-error.js');

  bootstrap().catch((error: unknown) => {
    process.stderr.write(`${startupError(error)}\n`);
    process.exit(1);
  });
}
