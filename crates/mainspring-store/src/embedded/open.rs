//! Opening a directory: one process at a time, one format, enough room.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heed::{Env, EnvFlags, EnvOpenOptions, WithoutTls};
use mainspring_core::store::{Error, Result};

use super::mirror::{Mirror, Names, QUEUES_MAX};
use super::read::Reader;
use super::tables::Tables;
use super::writer::Writer;
use super::{Embedded, storage};

/// The form of the tables and rows. Raised when an older program could not read what a newer one wrote.
pub const FORMAT: u32 = 2;

const FORMAT_KEY: &[u8] = b"format";

/// Snapshots that can be open at once.
const READERS_MAX: u32 = 1_024;

#[derive(Clone, Debug)]
pub struct Options {
    pub dir: PathBuf,
    /// Jobs are taken in while the tables are smaller than this …
    pub max_bytes: u64,
    /// … and the disk has this much left. Settling and retention go on below it.
    pub reserve_bytes: u64,
    pub queues_max: usize,
}

impl Options {
    pub const MAX_BYTES_DEFAULT: u64 = 1 << 40;
    pub const RESERVE_BYTES_DEFAULT: u64 = 64 << 20;

    pub fn new(dir: impl Into<PathBuf>) -> Options {
        Options {
            dir: dir.into(),
            max_bytes: Self::MAX_BYTES_DEFAULT,
            reserve_bytes: Self::RESERVE_BYTES_DEFAULT,
            queues_max: QUEUES_MAX,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{} is in use by process {holder}; stop it, or choose another data directory", dir.display())]
    InUse { dir: PathBuf, holder: String },
    #[error(
        "{} was written by a newer Mainspring (format {found}, this one reads {FORMAT}); upgrade this program",
        dir.display()
    )]
    Newer { dir: PathBuf, found: u32 },
    #[error(
        "{} was written by a Mainspring from before the first release (format {found}, this one reads {FORMAT}); \
         finish its jobs with that program, then start with an empty directory",
        dir.display()
    )]
    Older { dir: PathBuf, found: u32 },
    #[error("there is no store in {}; name the data directory of a server (`serve --data-dir`)", dir.display())]
    Missing { dir: PathBuf },
    #[error("could not use {} as a data directory: {source}", dir.display())]
    Directory { dir: PathBuf, source: std::io::Error },
    #[error("could not open the store in {}: {source}", dir.display())]
    Store { dir: PathBuf, source: Error },
}

/// The environment and its tables: what the writer and the readers share.
#[derive(Debug)]
pub struct Disk {
    pub env: Env<WithoutTls>,
    pub tables: Tables,
    pub names: Names,
    options: Options,
}

impl Embedded {
    /// Opens the store in a directory, which is made if it is not there.
    pub fn open(options: Options) -> std::result::Result<Embedded, OpenError> {
        let dir = options.dir.clone();
        let directory = |source| OpenError::Directory { dir: dir.clone(), source };
        fs::create_dir_all(&dir).map_err(directory)?;
        let lock = Lock::take(&dir)?;
        let (disk, mirror) = Disk::open(options).map_err(|error| error.at(&dir))?;
        let disk = Arc::new(disk);
        let writer = Writer::start(Arc::clone(&disk), mirror).map_err(directory)?;
        Ok(Embedded { writer, reader: Arc::new(Reader::new(disk)), _lock: lock })
    }
}

enum DiskError {
    Newer(u32),
    Older(u32),
    Store(Error),
}

impl DiskError {
    fn at(self, dir: &Path) -> OpenError {
        let dir = dir.to_owned();
        match self {
            DiskError::Newer(found) => OpenError::Newer { dir, found },
            DiskError::Older(found) => OpenError::Older { dir, found },
            DiskError::Store(source) => OpenError::Store { dir, source },
        }
    }
}

impl From<Error> for DiskError {
    fn from(error: Error) -> DiskError {
        DiskError::Store(error)
    }
}

impl Disk {
    /// What is in a directory, to be read only: nothing in it is changed. Whoever calls holds the [`Lock`].
    pub(super) fn open_to_read(options: Options) -> std::result::Result<(Disk, Mirror), OpenError> {
        let dir = options.dir.clone();
        let failed = |source| OpenError::Store { dir: dir.clone(), source };
        let env = open_env(&options, EnvFlags::READ_ONLY).map_err(storage).map_err(failed)?;
        let txn = env.read_txn().map_err(storage).map_err(failed)?;
        let found = Tables::find(&env, &txn).map_err(storage).map_err(failed)?;
        let Some(tables) = found else { return Err(OpenError::Missing { dir }) };
        let format = tables.meta.get(&txn, FORMAT_KEY).map_err(storage).map_err(failed)?;
        let Some(format) = format else { return Err(OpenError::Missing { dir }) };
        check_format(format).map_err(|error| error.at(&dir))?;
        // The handles of the tables are kept only by a transaction that is committed.
        txn.commit().map_err(storage).map_err(failed)?;
        let disk = Disk { env, tables, names: Names::default(), options };
        let mirror = disk.load().map_err(failed)?;
        Ok((disk, mirror))
    }

    fn open(options: Options) -> std::result::Result<(Disk, Mirror), DiskError> {
        let env = open_env(&options, EnvFlags::empty()).map_err(storage)?;
        let mut txn = env.write_txn().map_err(storage)?;
        let tables = Tables::open(&env, &mut txn).map_err(storage)?;
        match tables.meta.get(&txn, FORMAT_KEY).map_err(storage)? {
            None => tables.meta.put(&mut txn, FORMAT_KEY, &FORMAT.to_be_bytes()).map_err(storage)?,
            Some(bytes) => check_format(bytes)?,
        }
        txn.commit().map_err(storage)?;
        let disk = Disk { env, tables, names: Names::default(), options };
        let mirror = disk.load()?;
        Ok((disk, mirror))
    }

    pub fn load(&self) -> Result<Mirror> {
        let txn = self.env.read_txn().map_err(storage)?;
        Mirror::load(&txn, &self.tables, Arc::clone(&self.names), self.options.queues_max)
    }

    /// Whether there is room for more jobs, with enough left over to settle those that are there.
    pub fn check_room(&self) -> Result<()> {
        let Room { used, max, free, reserve } = self.room()?;
        if used >= max {
            return Err(Error::Full(format!(
                "it holds {used} bytes and may hold {max} (store.max_size); raise it or let retention make room"
            )));
        }
        if free < reserve {
            return Err(Error::Full(format!(
                "the disk has {free} bytes left and {reserve} are kept free (store.reserve); free some space"
            )));
        }
        Ok(())
    }

    pub fn room(&self) -> Result<Room> {
        let txn = self.env.read_txn().map_err(storage)?;
        let used = self.tables.bytes(&txn).map_err(storage)?;
        let disk = rustix::fs::statvfs(&self.options.dir)
            .map_err(|error| Error::Unavailable(format!("could not ask the disk for its free space: {error}")))?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        Ok(Room { used, max: self.options.max_bytes, free, reserve: self.options.reserve_bytes })
    }

    pub fn dir(&self) -> &Path {
        &self.options.dir
    }
}

/// How much there is and how much there may be, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// By the tables …
    pub used: u64,
    /// … which may fill so much.
    pub max: u64,
    /// On the disk …
    pub free: u64,
    /// … of which so much is kept.
    pub reserve: u64,
}

fn check_format(bytes: &[u8]) -> std::result::Result<(), DiskError> {
    let bytes = bytes.try_into().map_err(|_| Error::Damaged("its format version cannot be read".into()))?;
    match u32::from_be_bytes(bytes) {
        found if found > FORMAT => Err(DiskError::Newer(found)),
        found if found < FORMAT => Err(DiskError::Older(found)),
        _ => Ok(()),
    }
}

#[allow(unsafe_code, reason = "mapping a file is unsafe in LMDB's view; the lock below keeps other processes out")]
fn open_env(options: &Options, flags: EnvFlags) -> heed::Result<Env<WithoutTls>> {
    // The map is larger than what jobs may fill, so that settling and retention, which copy pages, still find some.
    let map = options.max_bytes.saturating_add(options.max_bytes / 4).saturating_add(64 << 20);
    let page = 4096;
    let mut open = EnvOpenOptions::new().read_txn_without_tls();
    open.map_size((map / page * page) as usize).max_dbs(Tables::COUNT).max_readers(READERS_MAX);
    // SAFETY: `Lock` is held: no other process of ours maps this directory, and this one opens it once. The flags are none, or
    // the one that forbids writing; neither weakens what LMDB promises.
    unsafe {
        open.flags(flags);
        open.open(&options.dir)
    }
}

/// Held while the directory is open. The operating system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    pub(super) fn take(dir: &Path) -> std::result::Result<Lock, OpenError> {
        let failed = |source| OpenError::Directory { dir: dir.into(), source };
        let path = dir.join("mainspring.lock");
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _unreadable = file.read_to_string(&mut holder);
                return Err(OpenError::InUse { dir: dir.into(), holder: holder.trim().to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
        writeln!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(Lock { _file: file })
    }
}
