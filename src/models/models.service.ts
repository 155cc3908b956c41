import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Caller, mayUse } from '../auth/caller.js';
import { Catalog, unknownModel } from '../catalog/catalog.js';
import type { ModelRow } from '../catalog/model-row.js';
import { OPERATIONS } from '../catalog/operations.js';
import type { PriceBookVersion } from '../catalog/price-books/price-book.js';
import { PriceBooks } from '../catalog/price-books/price-books.js';
import { VOICES } from '../catalog/voices.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { GatewayUrl } from '../platform/http-client/gateway-url.js';
import { viewMessagesModels } from './messages-model.view.js';
import { viewModelDetail } from './model-detail.view.js';
import { ModelParameters } from './model-parameters.js';
import { type ModelListView, type ShownModel, viewModel } from './model.view.js';
import type { VoiceView } from './voice.view.js';

/** Maximum cached documents: a list for each allowlist in use, and the single models. */
const MAX_KEPT = 500;

/** JSON text that does not change until the catalog is replaced. */
export interface ModelDocument {
  readonly json: string;
  /** A quoted entity tag. */
  readonly etag: string;
}

/** The part of the catalog that a key may see: enabled models that can run and are on its allowlist. */
@Injectable()
export class ModelsService {
  private readonly kept = new Map<string, ModelDocument>();
  /** The rows from which the cached documents were built. */
  private rows: readonly ModelRow[] = [];

  constructor(
    private readonly catalog: Catalog,
    private readonly parameters: ModelParameters,
    private readonly gatewayUrl: GatewayUrl,
    private readonly books: PriceBooks,
  ) {}

  /** A `ModelListView`. */
  async list(caller: Caller): Promise<ModelDocument> {
    const book = await this.bookOf(caller);
    const rows = this.catalog.list().filter((row) => mayUse(caller, row.id));
    return this.document(`list ${rows.map(({ id }) => id).join(' ')}`, book, (): ModelListView => {
      const data = rows.flatMap((row) =>
        [row.id, ...(row.aliases ?? [])].map((name) => viewModel(this.shown(row, name, book))),
      );
      return { object: 'list', data, total_count: data.length, links: { next: null } };
    });
  }

  /** A `MessagesModelListView`: the text models, in the form of Messages. */
  listForMessages(caller: Caller): ModelDocument {
    const rows = this.catalog
      .list()
      .filter((row) => row.operation === 'chat' && mayUse(caller, row.id));
    return this.document(`messages ${rows.map(({ id }) => id).join(' ')}`, undefined, () =>
      viewMessagesModels(rows.flatMap(({ id, aliases = [] }) => [id, ...aliases])),
    );
  }

  /** A `ModelDetailView`. Throws 404 `model_not_found` for a model that is not in the list. */
  async get(caller: Caller, id: string): Promise<ModelDocument> {
    const book = await this.bookOf(caller);
    const row = this.usable(caller, id);
    return this.document(`model ${id}`, book, () =>
      viewModelDetail(
        this.shown(row, id, book),
        OPERATIONS[row.operation].path,
        this.parameters.of(row),
      ),
    );
  }

  /**
   * The voices that a model takes: its own, of which only the name is known, or the premade ones. Throws 404 `model_not_found`
   * for a model that is not in the list, and `invalid_request` for one without voices (API: GET /v1/voices).
   */
  voicesOf(caller: Caller, id: string): readonly VoiceView[] {
    const { operation, voices } = this.usable(caller, id);
    if (!OPERATIONS[operation].hasVoice) {
      const message = 'model takes no voice. GET /v1/models lists supported_voices of each model.';
      throw new GatewayError('invalid_request', message, { param: 'model' });
    }
    if (!voices) return VOICES;
    return Object.keys(voices).map((name) => ({ id: name, name, gender: null, accent: null }));
  }

  private usable(caller: Caller, id: string): ModelRow {
    const usable = this.catalog.list().filter((row) => mayUse(caller, row.id));
    const row = usable.find(({ id: own, aliases = [] }) => own === id || aliases.includes(id));
    if (!row) throw unknownModel('model_not_found', { name: id, usable });
    return row;
  }

  private async bookOf({ priceBook }: Caller): Promise<PriceBookVersion | undefined> {
    await this.books.refresh(priceBook);
    return this.books.inForce(priceBook);
  }

  private shown(row: ModelRow, name: string, book: PriceBookVersion | undefined): ShownModel {
    const parameters = [...this.parameters.of(row).keys()];
    const priced = this.books.rowFor(row, book);
    return { row: priced, name, parameters, pathPrefix: this.gatewayUrl.pathPrefix };
  }

  /** The document of a name, built once for each state of the catalog and version of a price book. */
  private document(
    name: string,
    book: PriceBookVersion | undefined,
    view: () => object,
  ): ModelDocument {
    const key = book === undefined ? name : `${book.bookId}/${book.version} ${name}`;
    const rows = this.catalog.list();
    if (rows !== this.rows || this.kept.size >= MAX_KEPT) this.kept.clear();
    this.rows = rows;
    const known = this.kept.get(key);
    if (known) return known;
    const json = JSON.stringify(view());
    const etag = `"${createHash('sha256').update(json).digest('base64url')}"`;
    const listing = { json, etag };
    this.kept.set(key, listing);
    return listing;
  }
}
