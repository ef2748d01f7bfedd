# Sourced by .ci/run: a PostgreSQL for the tests, on the loopback, with data of its own.
# Exports GUARD_POSTGRES_URL. Where none is to be had, the tests start the one that pip brings.

postgres_folder=
postgres_programs=

as_postgres() {
  if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

find_postgres() {
  local found
  found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
  [ -n "$found" ] || found=$(dirname "$(command -v initdb)" 2>/dev/null) || return 1
  [ -x "$found/initdb" ] && [ -x "$found/postgres" ] && echo "$found"
}

install_postgres() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  # No server of the machine's own is wanted.
  mkdir -p /etc/postgresql-common/createcluster.d
  echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/ci.conf
  apt-get update -q && DEBIAN_FRONTEND=noninteractive \
    apt-get install -qy --no-install-recommends postgresql
}

start_postgres() {
  local programs password port
  programs=$(find_postgres) || { install_postgres && programs=$(find_postgres); } || {
    echo "none can be installed here: the tests start the one that pip brings"
    return 0
  }
  password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  postgres_folder=$(mktemp -d)
  printf '%s\n' "$password" >"$postgres_folder/password"
  [ "$(id -u)" != 0 ] || chown -R postgres "$postgres_folder"
  (
    cd /
    as_postgres "$programs/initdb" -D "$postgres_folder/data" -U ci -A scram-sha-256 \
      --pwfile="$postgres_folder/password" --encoding=UTF8 --locale=C --no-sync >/dev/null
  )
  for port in 54329 54330 54331 54332 54333; do
    if (
      cd /
      as_postgres "$programs/pg_ctl" start -w -s -D "$postgres_folder/data" \
        -l "$postgres_folder/log" \
        -o "-p $port -h 127.0.0.1 -k '' -c fsync=off -c full_page_writes=off"
    ); then
      postgres_programs=$programs
      export GUARD_POSTGRES_URL="postgresql://ci:$password@127.0.0.1:$port/postgres"
      return 0
    fi
  done
  cat "$postgres_folder/log"
  return 1
}

stop_postgres() {
  [ -n "$postgres_folder" ] || return 0
  if [ -n "$postgres_programs" ]; then
    (cd / && as_postgres "$postgres_programs/pg_ctl" stop -s -m fast \
      -D "$postgres_folder/data") || true
  fi
  rm -rf "$postgres_folder"
}
