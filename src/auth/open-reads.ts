import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { GatewayError } from '../common/errors/gateway-error.js';
import { Clock } from '../common/time/clock.js';
import { Scheduler } from '../platform/scheduler/scheduler.js';
import { disabledAccount, invalidToken } from './bearer.guard.js';
import type { Caller } from './caller.js';
import { callerOf, type CallerRow, FIND_CALLERS_BY_ID } from './caller-row.js';
import { missingScope } from './scope.guard.js';
import type { Scope } from './scope.js';
import { ConsoleSessions } from './sessions/console-sessions.js';

/** What becomes of a key or a session holds within 2 s everywhere (AUTH-04). */
const INTERVAL_MS = 1_000;

/** A read that goes on for long, and what it needs all the time. */
interface OpenRead {
  readonly caller: Caller;
  readonly scope: Scope;
  readonly end: (why: GatewayError) => void;
}

/**
 * Ends reads that go on for long, such as streams of events, when their key or session may read no more: it was revoked, has
 * expired, lost the scope or signed out, or its account is disabled. One query a second asks for the keys of all of them.
 */
@Injectable()
export class OpenReads implements OnApplicationBootstrap {
  private readonly reads = new Set<OpenRead>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly sessions: ConsoleSessions,
    private readonly clock: Clock,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'open-reads',
      intervalMs: INTERVAL_MS,
      servesOwnCalls: true,
      tick: () => this.check(),
    });
  }

  /**
   * Calls `end` once the caller may read no more, with the error that its next request would get. Returns what whoever reads calls at
   * the end of the read.
   */
  watch(caller: Caller, scope: Scope, end: OpenRead['end']): () => void {
    const read = { caller, scope, end };
    this.reads.add(read);
    return () => {
      this.reads.delete(read);
    };
  }

  /** Throws while the database cannot be reached; then there is nothing to read either. */
  private async check(): Promise<void> {
    const open = [...this.reads];
    if (open.length === 0) return;
    const callers = await this.callersOf(open.map(({ caller }) => caller));
    const ids = open.flatMap(({ caller }) => caller.sessionId ?? []);
    const sessions = ids.length === 0 ? new Set<string>() : await this.sessions.liveOf(ids);
    for (const { caller, scope, end } of open) {
      const { sessionId, isWithoutKey } = caller;
      const isSignedIn = sessionId === undefined || sessions.has(sessionId);
      const key = isWithoutKey ? caller : callers.get(caller.apiKeyId);
      const refusal = isSignedIn ? this.refusalOf(key, scope) : invalidToken();
      if (refusal !== undefined) end(refusal);
    }
  }

  private async callersOf(callers: readonly Caller[]): Promise<ReadonlyMap<string, Caller>> {
    const ids = new Set(callers.map(({ apiKeyId }) => apiKeyId));
    const rows = await this.dataSource.query<CallerRow[]>(FIND_CALLERS_BY_ID, [[...ids]]);
    return new Map(rows.map((row) => [row.id, callerOf(row)]));
  }

  private refusalOf(key: Caller | undefined, scope: Scope): GatewayError | undefined {
    if (key === undefined) return invalidToken();
    const { expiresAtMs, isDisabled, scopes } = key;
    if (expiresAtMs !== null && expiresAtMs <= this.clock.nowMs()) return invalidToken();
    if (isDisabled) return disabledAccount();
    return scopes.includes(scope) ? undefined : missingScope([scope], scopes);
  }
}
