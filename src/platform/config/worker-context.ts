/** What the primary process shares with the workers it forks. */
export interface WorkerContext {
  readonly databaseUrl: string;
  /** The database is the embedded one, and the primary runs it. */
  readonly isEmbedded: boolean;
  readonly sandbox: SandboxAccess | undefined;
  /** This worker prints the message of the first start. */
  readonly greets: boolean;
}

/** Where a running sandbox upstream is, and its key. */
export interface SandboxAccess {
  /** Its root: the base URL of each provider begins with it. */
  readonly url: string;
  /** Base of its finished files. */
  readonly mediaUrl: string;
  readonly apiKey: string;
  /** The header in which requests to a vendor of a file say of which version of the file they are. */
  readonly twinHeader: string;
}

const VARIABLE = 'SHIM_WORKER_CONTEXT';

/** The environment variables that pass the context to a forked worker. */
export function toWorkerEnvironment(context: WorkerContext): Record<string, string> {
  return { [VARIABLE]: JSON.stringify(context) };
}

/** The context of this process, if it is a forked worker. */
export function readWorkerContext(): WorkerContext | undefined {
  const text = process.env[VARIABLE];
  return text === undefined ? undefined : (JSON.parse(text) as WorkerContext);
}
