import { Injectable } from '@nestjs/common';
import { type Caller, mayUse } from '../auth/caller.js';
import { Catalog } from '../catalog/catalog.js';
import { unknownModel } from '../catalog/unknown-model.js';
import { type ModelDetailView, viewModelDetail } from './model-detail.view.js';
import { ENDPOINTS, ModelParameters } from './model-parameters.js';
import { type ModelListView, viewModel } from './model.view.js';

/** The part of the catalog that a key may see: enabled models that can run and are on its allowlist. */
@Injectable()
export class ModelsService {
  constructor(
    private readonly catalog: Catalog,
    private readonly parameters: ModelParameters,
  ) {}

  list(caller: Caller): ModelListView {
    const rows = this.catalog.list().filter((row) => mayUse(caller, row.id));
    const data = rows.flatMap((row) =>
      [row.id, ...(row.aliases ?? [])].map((name) => viewModel(row, name)),
    );
    return { object: 'list', data };
  }

  /** Throws 404 `model_not_found` for a model that is not in the list. */
  get(caller: Caller, id: string): ModelDetailView {
    const row = this.catalog
      .list()
      .find(
        ({ id: own, aliases = [] }) => (own === id || aliases.includes(id)) && mayUse(caller, own),
      );
    if (!row) throw unknownModel('model_not_found');
    return viewModelDetail(row, ENDPOINTS[row.operation], this.parameters.of(row), id);
  }
}
