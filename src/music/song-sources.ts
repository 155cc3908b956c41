import { Injectable } from '@nestjs/common';
import type { QuotedCall } from '../admission/quotes/quotable-calls.js';
import type { SongShape } from '../catalog/song-shape.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { fromPublicId } from '../common/ids/public-id.js';
import type { JsonObject } from '../common/json-object.js';
import type { CostedRoute } from '../catalog/route-cost.js';
import { JobUpstreams } from '../providers/routing/job-upstreams.js';
import type { Task } from '../tasks/task.js';
import { TaskRepository } from '../tasks/reads/task.repository.js';
import type { TrackView } from './song-result.view.js';
import { songDetailsOf, familyOf, SONG_KIND } from './song-task.js';

/** A field of a body that names an earlier task. */
interface Reference {
  readonly field: string;
  readonly taskId: string;
  readonly wants: 'track' | 'persona' | 'custom_model';
  /** Position of the track, from 1, and the field that holds it. */
  readonly index?: number | undefined;
  readonly indexField?: string;
}

interface FoundTask extends Reference {
  readonly task: Task;
}

/** The tracks and singers of the tasks that a body names, and where the operation can run. */
export interface SongSourcesFound {
  readonly tracks: readonly TrackView[];
  readonly personaId: string | undefined;
  readonly customModelId: string | undefined;
  /** The route of the provider that made all sources; the model's first route if no source is named. */
  readonly route: CostedRoute;
  /** Further routes, where no source is named. */
  readonly others: readonly CostedRoute[];
  /** The upstream that has the sources; undefined if no source is named. */
  readonly upstream: string | undefined;
}

/** An extension is joined with its source, so the source is required (decision G-70). */
const EXTENSIONS: readonly SongShape[] = ['extend', 'upload-extend'];
const MAKER_OF = { persona: 'persona', custom_model: 'custom-model' } as const;

/** Finds the results of earlier tasks of the account (API: POST /v1/music/generations). */
@Injectable()
export class SongSources {
  constructor(
    private readonly reader: TaskRepository,
    private readonly upstreams: JobUpstreams,
  ) {}

  /**
   * Throws 400 `invalid_music_request` that names the field for a task that is unknown, belongs to another account,
   * kind or family, or has no such track (decisions G-70, G-71); 409 `source_task_not_ready` for a task that has not
   * succeeded (G-69), 400 where no route of the model leads to the provider that made it; 503 `no_eligible_route` when that provider is
   * not configured any more.
   */
  async resolve(call: QuotedCall<'song'>, body: JsonObject): Promise<SongSourcesFound> {
    const references = referencesOf(body);
    const found = await Promise.all(references.map((reference) => this.find(call, reference)));
    for (const { field, task } of found) {
      if (task.status !== 'succeeded') throw notReady(field);
    }
    return {
      tracks: found.filter(({ wants }) => wants === 'track').map(trackOf),
      personaId: madeBy(found, 'persona'),
      customModelId: madeBy(found, 'custom_model'),
      ...this.placeFor(call, found),
    };
  }

  private async find(call: QuotedCall<'song'>, reference: Reference): Promise<FoundTask> {
    const id = fromPublicId('task', reference.taskId);
    const task = id === undefined ? undefined : await this.reader.find(id, call.caller.accountId);
    if (task?.kind !== SONG_KIND || !suits(task, call, reference)) throw noSuch(reference.field);
    return { ...reference, task };
  }

  /** Tracks and singers belong to the provider's account that made them, so the work has to go there. */
  private placeFor(
    { row, routes }: QuotedCall<'song'>,
    found: readonly FoundTask[],
  ): Pick<SongSourcesFound, 'route' | 'others' | 'upstream'> {
    const maker = this.makerOf(found);
    const leadsThere = ({ provider }: CostedRoute) => !maker || provider === maker.task.provider;
    const route = routes.find(leadsThere);
    if (route && !maker) {
      return { route, others: routes.filter((own) => own !== route), upstream: undefined };
    }
    const upstream = maker && this.upstreamOf(maker);
    if (route && upstream && this.upstreams.lackOf(route.provider, upstream) === undefined) {
      return { route, others: [], upstream };
    }
    if (maker && !row.routes.some(leadsThere)) {
      throw bad(maker.field, `${maker.field} was made where no route of this model leads.`);
    }
    const message = 'The provider that made the source is no longer available.';
    throw new GatewayError('no_eligible_route', message, {
      param: maker?.field ?? 'model',
      shouldRetry: false,
    });
  }

  /** The first of the sources; undefined without any. Throws 400 where another one was made elsewhere. */
  private makerOf(found: readonly FoundTask[]): FoundTask | undefined {
    const [first] = found;
    for (const reference of found) {
      const isTogether =
        reference.task.provider === first?.task.provider &&
        this.upstreamOf(reference) === this.upstreamOf(first);
      if (isTogether) continue;
      const { field } = reference;
      throw bad(field, `${field} was made elsewhere than ${first?.field ?? 'the rest'}.`);
    }
    return first;
  }

  private upstreamOf({ task: { provider, providerBaseUrl } }: FoundTask): string {
    return this.upstreams.withKey(provider, providerBaseUrl);
  }
}

function referencesOf(body: JsonObject): readonly Reference[] {
  const one = (field: string, wants: Reference['wants']): Reference[] => {
    const taskId = body[field];
    return typeof taskId === 'string' ? [{ field, taskId, wants }] : [];
  };
  const pair = (body.source_task_ids ?? []) as readonly string[];
  const indexes = (body.source_indexes ?? []) as readonly number[];
  return [
    ...one('source_task_id', 'track').map((reference) => ({
      ...reference,
      index: body.source_index as number,
      indexField: 'source_index',
    })),
    ...pair.map((taskId, position) => ({
      field: 'source_task_ids',
      taskId,
      wants: 'track' as const,
      index: indexes[position],
      indexField: 'source_indexes',
    })),
    ...one('persona_task_id', 'persona'),
    ...one('custom_model_task_id', 'custom_model'),
  ];
}

function suits(task: Task, { row }: QuotedCall<'song'>, { wants }: Reference): boolean {
  const { family, shape } = songDetailsOf(task);
  if (family !== familyOf(row.id)) return false;
  if (wants !== 'track') return shape === MAKER_OF[wants];
  return row.limits.shape !== 'concat' || EXTENSIONS.includes(shape);
}

function trackOf({ task, field, index = 1, indexField = field }: FoundTask): TrackView {
  const tracks = (task.result?.tracks ?? []) as readonly TrackView[];
  if (!tracks.some(({ id }) => id !== undefined)) throw noSuch(field);
  const track = tracks[index - 1];
  if (track?.id === undefined) {
    throw bad(indexField, `${indexField} is beyond the ${tracks.length} tracks of the task.`);
  }
  return track;
}

function madeBy(found: readonly FoundTask[], wants: 'persona' | 'custom_model') {
  const source = found.find((reference) => reference.wants === wants);
  if (!source) return undefined;
  const voice = source.task.result?.[wants] as { readonly id?: unknown } | undefined;
  if (typeof voice?.id !== 'string') throw noSuch(source.field);
  return voice.id;
}

function noSuch(field: string): GatewayError {
  return bad(field, `${field} names no task of this account that can be used here.`);
}

function notReady(field: string): GatewayError {
  const message = `${field}: ${field} has not finished successfully`;
  return new GatewayError('source_task_not_ready', message, { param: field, shouldRetry: false });
}

function bad(field: string, message: string): GatewayError {
  return new GatewayError('invalid_music_request', message, { param: field });
}
