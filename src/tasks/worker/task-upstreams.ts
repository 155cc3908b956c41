import { Injectable, Logger } from '@nestjs/common';
import { Catalog } from '../../catalog/catalog.js';
import { JobUpstreams, partsOfUpstream } from '../../providers/routing/job-upstreams.js';
import { ProviderRegistry } from '../../providers/routing/provider-registry.js';
import { Clock } from '../../common/time/clock.js';
import type { TaskContext } from '../task-kind.js';
import { runsHere } from '../task-lane.js';
import type { Task, TaskRoute } from '../task.js';
import type { ClaimedWork } from './task-work.repository.js';
import { splitStepState, StepNotes, type ProviderStep } from './step-notes.js';

/** A key that is gone is logged so often for each provider. */
const WARN_EVERY_MS = 60_000;

/** Knows where a task may be submitted, and whether what has its job is still configured (docs/reference/configuration.md). */
@Injectable()
export class TaskUpstreams {
  private readonly logger = new Logger('Tasks');
  private readonly warnedAtMs = new Map<string, number>();

  constructor(
    private readonly registry: ProviderRegistry,
    private readonly upstreams: JobUpstreams,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
  ) {}

  /**
   * The task at each place where it may be submitted now, in the order in which they are tried. Work of which a part is done stays
   * where that is.
   */
  placesOf(work: ClaimedWork): Task[] {
    const { task } = work;
    if (this.isBound(task)) {
      const providerBaseUrl = this.upstreams.withKey(task.provider, task.providerBaseUrl);
      const place = { ...task, providerBaseUrl };
      const isOpen = this.isReachable(place) && !this.registry.paused.has(place);
      return isOpen && this.upstreams.isFree(place.provider, providerBaseUrl) ? [place] : [];
    }
    return this.routesOf(task).flatMap((route) => {
      const { provider, upstreamModel, cost } = route;
      if (this.registry.paused.has(route) || this.isElsewhere(work, provider)) return [];
      return this.upstreams.of(provider, task.accountId).map((providerBaseUrl) => ({
        ...task,
        provider,
        upstreamModel,
        providerBaseUrl,
        routeCostMicroUsd: cost === null ? null : BigInt(cost),
      }));
    });
  }

  /**
   * The upstream of a task that was put off: it names no key, unless the work has to stay with it. So it is with work that was bound when
   * it was `claimed`, and with work that may have begun there.
   */
  refusedUpstreamOf(task: Task, claimed: Task, isUnbegun: boolean): string {
    const { provider, providerBaseUrl } = task;
    if (this.isBound(claimed)) return providerBaseUrl;
    if (isUnbegun || runsHere(task.kind)) return partsOfUpstream(providerBaseUrl).base;
    const isOnly = this.routesOf(task).length < 2;
    return isOnly ? providerBaseUrl : this.upstreams.named(provider, providerBaseUrl);
  }

  /** Whether the upstream to which the task was sent, and the key with which it was, are still configured. */
  isReachable({ provider, providerBaseUrl }: Task): boolean {
    const lack = this.upstreams.lackOf(provider, providerBaseUrl);
    if (lack === 'key') this.warnOfKey(provider);
    return lack === undefined;
  }

  /** Nothing of the work that a process of the gateway does itself is kept at an upstream. */
  private hasBegun(task: Task): boolean {
    return !runsHere(task.kind) && Object.keys(splitStepState(task).rest).length > 0;
  }

  /** A key is named before the submission where the work needs what the account of that key has. */
  private isBound(task: Task): boolean {
    return this.hasBegun(task) || partsOfUpstream(task.providerBaseUrl).keyId !== undefined;
  }

  private routesOf(task: Task): readonly TaskRoute[] {
    const { provider, upstreamModel, routeCostMicroUsd: cost } = task;
    const own = { provider, upstreamModel, cost: cost?.toString() ?? null };
    const { routes = [own] } = task.details as { readonly routes?: readonly TaskRoute[] };
    const sold = this.catalog.find(task.model)?.routes ?? [];
    return routes.filter((route) => isSame(route, own) || sold.some((one) => isSame(one, route)));
  }

  /**
   * Whether the task must not be sent to this provider. A task that was sent once stays at its upstream, except where the work is
   * done here: nothing of it is kept at an upstream that had no room for it. Work for play money never goes to a real provider, nor
   * the reverse (decision G-95).
   */
  private isElsewhere({ task, submits }: ClaimedWork, provider: string): boolean {
    const isOwn = provider === task.provider;
    if (isOwn && this.registry.baseUrlOf(provider) === task.providerBaseUrl) return false;
    const isKept = isOwn && submits > 0 && !runsHere(task.kind);
    return isKept || this.registry.isSandbox(provider) !== task.onSandbox;
  }

  private warnOfKey(provider: string): void {
    const nowMs = this.clock.nowMs();
    if (nowMs - (this.warnedAtMs.get(provider) ?? -Infinity) < WARN_EVERY_MS) return;
    this.warnedAtMs.set(provider, nowMs);
    this.logger.warn(
      `provider ${provider} no longer has a key with which open tasks were submitted; they wait for it until their deadline`,
    );
  }

  /** Empty notes of a step that begins, of a task of this age. */
  notesOf(
    step: ProviderStep,
    { ageMs, span, task }: Pick<ClaimedWork, 'ageMs' | 'span' | 'task'>,
  ): StepNotes {
    return new StepNotes(step, this.clock.nowMs() - ageMs, span && { span, operation: task.kind });
  }

  /** The context for a step of the task that asks about its job. */
  contextOf(task: Task, signal: AbortSignal, notes?: StepNotes): TaskContext {
    return {
      signal,
      keyId: partsOfUpstream(task.providerBaseUrl).keyId,
      isFollowUp: true,
      onFigures: notes?.onFigures,
      onAttemptEnd: notes?.onAttemptEnd,
      onOutputCap: notes?.onOutputCap,
      route: {
        provider: task.provider,
        upstreamModel: task.upstreamModel,
        terms: this.catalog.termsOf(task.model),
      },
      accountId: task.accountId,
    };
  }
}

const isSame = (
  one: Pick<TaskRoute, 'provider' | 'upstreamModel'>,
  other: Pick<TaskRoute, 'provider' | 'upstreamModel'>,
): boolean => one.provider === other.provider && one.upstreamModel === other.upstreamModel;
