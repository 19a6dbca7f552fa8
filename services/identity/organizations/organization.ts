/** The caller's organization: its name, slug and settings. */
import { InvalidRequest, Unauthenticated } from '#libs/contract';
import { handle } from '#libs/http';
import { getOrganization, updateOrganization } from '../contract.ts';
import { toOrganization } from '../presenters.ts';
import { isReserved } from '../rules/slug.ts';
import type { OrganizationRepository } from '../store/organizations.ts';

/** Handlers of the operations on the caller's organization. */
export function organizationHandlers({ organizations }: { organizations: OrganizationRepository }) {
  return [
    handle(getOrganization, async ({ actor }) => {
      const row = await organizations.get(actor);
      if (!row) throw Unauthenticated();
      return toOrganization(row);
    }),

    handle(updateOrganization, async ({ actor, body, call }) => {
      const { settings = {}, ...fields } = body;
      call.audit({
        changed: [...Object.keys(fields), ...Object.keys(settings).map((key) => `settings.${key}`)],
      });
      if (body.slug !== undefined && isReserved(body.slug)) throw reservedSlugError();
      const row = await organizations.update(actor, body);
      if (!row) throw Unauthenticated();
      return toOrganization(row);
    }),
  ];
}

function reservedSlugError() {
  const errors = [{ path: 'body/slug', message: 'This slug is reserved' }];
  return InvalidRequest(undefined, { extra: { errors } });
}
