//! The files for containers: Kubernetes' and Compose's as those read them, where nothing may be
//! that they do not know; what each container may do; and its command line, which has to be one
//! that the binary takes.

use super::roles::{API, OWNER};
use super::{home, path, text};
use crate::cluster::shipped::make_routes;
use collector::cluster::{NatsUser, accounts};
use collector::network::NetworkId;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use testkit::ports::free_address;

/// The image of the project's own containers.
const IMAGE: &str = "wattseal-collector";
/// Debian's, for which the objects of Kubernetes are there.
const PYTHON: &str = "/usr/bin/python3";
const INSTALL: &str = "install it with: apt-get install python3-kubernetes docker-compose";

/// Kubernetes' files, which kustomization.yaml names.
fn manifests() -> Vec<PathBuf> {
    let there =
        std::fs::read_dir(path("kubernetes")).expect("a folder").map(|entry| entry.expect("a file").path());
    let is_object = |file: &PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        name.ends_with(".yaml") && name != "kustomization.yaml"
    };
    let files: Vec<PathBuf> = there.filter(is_object).collect();
    let named = text("kubernetes/kustomization.yaml");
    for file in &files {
        let name = file.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        assert!(named.contains(&format!("\n  - {name}\n")), "kustomization.yaml does not name {name}");
    }
    files
}

/// As Kubernetes has them.
fn read(files: &[PathBuf]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/operations/objects.py");
    Command::new(PYTHON).arg(script).args(files).output().expect(INSTALL)
}

fn takes(arguments: &Value, whose: &str) {
    let arguments: Vec<String> = serde_json::from_value(arguments.clone()).expect("arguments");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal-collector"));
    let ran = command.args(arguments).arg("--help").output().expect("it runs");
    assert!(ran.status.success(), "{whose}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// An api has a user of PostgreSQL of its own, and does not know the owner's password.
fn asks_as(arguments: &Value, secrets: &Value, role: &str) {
    let database = list(arguments).find_map(|argument| argument.as_str()?.strip_prefix("--db=postgres://"));
    let user = database.and_then(|database| database.split('@').next());
    let wanted = match role {
        "worker" => Some(OWNER),
        "api" => Some(API),
        _ => None,
    };
    assert_eq!(user, wanted, "{role}");
    let has_owners = list(secrets).any(|secret| secret == "pgpass" || secret["source"] == "pgpass");
    assert!(role == "worker" || !has_owners, "{role} has the password of the tables' owner");
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[test]
fn kubernetes_files_are_valid_and_pods_are_unprivileged() {
    let said = read(&manifests());
    assert!(said.status.success(), "{}{INSTALL}", String::from_utf8_lossy(&said.stderr));
    let objects: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    let mut commands = 0;
    for object in list(&objects) {
        let pod = &object["spec"]["template"]["spec"];
        if pod.is_null() {
            continue;
        }
        let name = object["metadata"]["name"].as_str().expect("a name");
        confined(pod, name);
        for container in list(&pod["containers"]).filter(|container| container["image"] == IMAGE) {
            takes(&container["args"], name);
            asks_as(&container["args"], &Value::Null, name.split('-').next().expect("a role"));
            commands += 1;
        }
    }
    assert_eq!(commands, 3);
}

/// Nothing but what it needs, with bounds, and asked how it is.
fn confined(pod: &Value, name: &str) {
    let of_pod = &pod["securityContext"];
    assert!(
        of_pod["runAsNonRoot"] == true && of_pod["runAsUser"].as_u64().is_some_and(|user| user > 0),
        "{name}"
    );
    assert_eq!(of_pod["seccompProfile"]["type"], "RuntimeDefault", "{name}");
    assert_eq!(pod["automountServiceAccountToken"], false, "{name}");
    let volumes: BTreeSet<&str> =
        list(&pod["volumes"]).filter_map(|volume| volume["name"].as_str()).collect();
    for container in list(&pod["containers"]).chain(list(&pod["initContainers"])) {
        let whose = format!("{name}: {}", container["name"]);
        let own = &container["securityContext"];
        assert!(own["allowPrivilegeEscalation"] == false && own["privileged"].is_null(), "{whose}");
        assert_eq!(own["readOnlyRootFilesystem"], true, "{whose}");
        assert_eq!(own["capabilities"]["drop"], serde_json::json!(["ALL"]), "{whose}");
        assert!(!container["resources"]["limits"]["memory"].is_null(), "{whose}");
        for needed in ["cpu", "memory"] {
            assert!(!container["resources"]["requests"][needed].is_null(), "{whose}");
        }
        for mount in list(&container["volumeMounts"]) {
            let volume = mount["name"].as_str().expect("a name");
            // A claim's is the StatefulSet's.
            assert!(volumes.contains(volume) || volume == "data", "{whose}: {volume}");
        }
    }
    assert!(list(&pod["containers"]).all(|container| container["readinessProbe"].is_object()), "{name}");
}

/// A field that is misspelt is seen, wherever it is, and so is a value of another type.
#[test]
fn unknown_kubernetes_field_is_detected() {
    let folder = tempfile::tempdir().expect("a folder");
    let changes = [
        ("replicas:", "replicasx:"),
        ("readOnlyRootFilesystem:", "readOnlyRootFileSystem:"),
        ("seccompProfile:", "seccomp:"),
        ("limits:", "limit:"),
        ("readinessProbe:", "readyProbe:"),
        ("mountPath:", "path:"),
        ("secretName:", "name:"),
        ("topologyKey:", "topology:"),
        ("externalTrafficPolicy:", "trafficPolicy:"),
        ("podSelector:", "selector:"),
        ("maxUnavailable: 1", "maxUnavailableX: 1"),
        ("replicas: 2", "replicas: two"),
        ("kind: Deployment", "kind: Deploymint"),
    ];
    for (right, wrong) in changes {
        let file = manifests().into_iter().find_map(|file| {
            let text = std::fs::read_to_string(file).expect("a file");
            text.contains(right).then(|| text.replacen(right, wrong, 1))
        });
        let changed = folder.path().join("changed.yaml");
        std::fs::write(&changed, file.unwrap_or_else(|| panic!("no file has {right}"))).expect("written");
        let said = read(std::slice::from_ref(&changed));
        let error = String::from_utf8_lossy(&said.stderr);
        assert!(!said.status.success() && !error.contains("Traceback"), "{wrong} is not seen: {error}");
    }
}

/// Returns Compose's reading of a file.
fn compose(file: &Path) -> Result<Value, String> {
    let said = Command::new("docker-compose").arg("-f").arg(file).arg("config").output().expect(INSTALL);
    if !said.status.success() {
        return Err(String::from_utf8_lossy(&said.stderr).into_owned());
    }
    let to_json = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)";
    let mut python = Command::new(PYTHON);
    let python = python.args(["-c", to_json]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut python = python.expect(INSTALL);
    python.stdin.take().expect("a pipe").write_all(&said.stdout).expect("it reads");
    let said = python.wait_with_output().expect("it ran");
    Ok(serde_json::from_slice(&said.stdout).expect("JSON"))
}

#[test]
fn compose_knows_all_that_its_file_says() {
    let file = compose(&path("compose/compose.yml")).expect("a file of Compose");
    let mut commands = 0;
    for (name, service) in file["services"].as_object().expect("services") {
        assert!(!service["mem_limit"].is_null() && !service["restart"].is_null(), "{name}");
        if service["image"] == IMAGE {
            takes(&service["command"], name);
            asks_as(&service["command"], &service["secrets"], name.split('-').next().expect("a role"));
            assert!(service["read_only"] == true && service["cap_drop"][0] == "ALL", "{name}");
            assert!(service["healthcheck"].is_object(), "{name}");
            commands += 1;
        }
    }
    assert_eq!(commands, 3);
    let text = text("compose/compose.yml");
    let folder = tempfile::tempdir().expect("a folder");
    for field in
        ["mem_limit:", "read_only:", "healthcheck:", "stop_grace_period:", "cap_drop:", "secrets: [hall.nk]"]
    {
        assert!(text.contains(field), "{field}");
        let changed = folder.path().join("compose.yml");
        std::fs::write(&changed, text.replace(field, &format!("x{field}"))).expect("written");
        let error = compose(&changed).expect_err(field);
        assert!(
            error.contains("Unsupported config option") || error.contains("does not match"),
            "{field}: {error}"
        );
    }
}

/// A container's health check finds a role that is well, one that is not, and a missing one.
#[test]
fn a_container_is_well_where_its_role_says_so() {
    let healthy = |port: u16, what: &str| {
        let mut command = Command::new("bash");
        let ran = command.arg(path("container/wattseal-healthy")).args([&port.to_string(), what]).output();
        ran.expect("bash").status.success()
    };
    let gateway = crate::cluster::roles::gateway(
        crate::cluster::roles::servers("nats://127.0.0.1:9"),
        "hall",
        &[collector::network::NetworkId::DEFAULT],
    );
    let port = gateway.started.health.expect("asked for").port();
    assert!(healthy(port, "live"));
    assert!(!healthy(port, "ready"), "there is no server");
    gateway.stop().expect("it stops well");
    let nobody = free_address().port();
    assert!(!healthy(nobody, "live"));
}

/// Secrets that an orchestrator mounts for a group become the role's own.
#[test]
fn secrets_are_copied_for_their_user_alone() {
    let (from, into) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    std::fs::write(from.path().join("kek"), "a secret\n").expect("written");
    std::fs::set_permissions(from.path().join("kek"), PermissionsExt::from_mode(0o440)).expect("ours");
    // As Kubernetes mounts them: a link to a folder that is replaced.
    std::fs::create_dir(from.path().join("..data")).expect("a folder");
    let copied = Command::new("bash")
        .arg(path("container/wattseal-secrets"))
        .args([from.path(), into.path()])
        .status();
    assert!(copied.expect("bash").success());
    let copy = into.path().join("kek");
    assert_eq!(std::fs::read_to_string(&copy).expect("there"), "a secret\n");
    assert_eq!(std::fs::metadata(&copy).expect("there").permissions().mode() & 0o777, 0o600);
}

/// The users of a file, as the code has them, with what stands there for their keys.
fn shipped(gateways: &[(&str, u32)]) -> String {
    let key = |name: &str| format!("U_PUBLIC_KEY_OF_THE_{}", name.to_uppercase());
    let mut users = vec![(NatsUser::Worker, key("worker")), (NatsUser::Api, key("api"))];
    for (name, network) in gateways {
        let networks = vec![NetworkId(*network)];
        let gateway = NatsUser::Gateway { name: name.parse().expect("a name"), networks };
        users.push((gateway, key(name)));
    }
    accounts(&users)
}

/// The files have the code's users, which are printed, and which roles are checked against.
#[test]
fn users_of_the_files_are_those_of_the_code() {
    for (file, gateways) in [
        ("nats/nats-server.conf", &[("hall", 7), ("yard", 0)][..]),
        ("kubernetes/users.conf", &[("hall", 0)]),
    ] {
        let (text, expected) = (text(file), shipped(gateways));
        let users = text.find("\naccounts {").map(|at| &text[at + 1..]);
        assert_eq!(users, Some(expected.as_str()), "operations/{file}");
    }
}

/// NATS' own look at its files, in folders as they are in a container.
#[test]
fn nats_takes_its_files() {
    for folder in ["compose", "kubernetes"] {
        let copy = tempfile::tempdir().expect("a folder");
        let etc = copy.path().join("nats");
        let routes = copy.path().join("nats-routes");
        std::fs::create_dir(&etc).expect("a folder");
        std::fs::create_dir(&routes).expect("a folder");
        make_routes(&routes);
        let certificate = rcgen::generate_simple_self_signed(["nats".to_owned()]).expect("a certificate");
        std::fs::write(etc.join("tls.crt"), certificate.cert.pem()).expect("written");
        std::fs::write(etc.join("tls.key"), certificate.signing_key.serialize_pem()).expect("written");
        if folder == "compose" {
            std::fs::copy(routes.join("routes.conf"), etc.join("routes.conf")).expect("copied");
        }
        let mut users = text("kubernetes/users.conf");
        for who in ["U_PUBLIC_KEY_OF_THE_HALL", "U_PUBLIC_KEY_OF_THE_WORKER", "U_PUBLIC_KEY_OF_THE_API"] {
            let key = nkeys::KeyPair::new_user().public_key();
            assert!(users.contains(who));
            users = users.replace(who, &key);
        }
        std::fs::write(etc.join("users.conf"), users).expect("written");
        let mut nats = text(&format!("{folder}/nats.conf"));
        for (from, to) in [("/etc/nats-tls", &etc), ("/etc/nats-routes", &routes), ("/run/secrets", &routes)]
        {
            nats = nats.replace(from, &to.display().to_string());
        }
        std::fs::write(etc.join("nats.conf"), nats).expect("written");
        let mut command = Command::new("nats-server");
        let command = command.env("SERVER_NAME", "nats1").env("ROUTE_LISTEN", "127.0.0.1:6222");
        let ran = command.args(["-t", "-c"]).arg(etc.join("nats.conf")).output().expect("nats-server");
        assert!(ran.status.success(), "{folder}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// A release of `ci/container/build`, with a docker that says what it is asked, and has these
/// digests.
struct Release {
    folder: tempfile::TempDir,
}

impl Release {
    fn new() -> Release {
        let folder = tempfile::tempdir().expect("a folder");
        let docker = "#!/bin/bash\necho \"$*\" >>\"$DOCKER_LOG\"\n[ \"$1 $2\" != 'image inspect' ] || echo \"$DOCKER_DIGEST\"\n";
        let program = folder.path().join("docker");
        std::fs::write(&program, docker).expect("written");
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("ours");
        for name in
            ["ci/container/build", "operations/container/Dockerfile", "operations/compose/compose.yml"]
        {
            let copy = folder.path().join(name);
            std::fs::create_dir_all(copy.parent().expect("a folder")).expect("made");
            std::fs::copy(home().join(name), copy).expect("copied");
        }
        Release { folder }
    }

    fn build(&self, arguments: &[&str], digest: &str) -> Output {
        let path = format!("{}:{}", self.folder.path().display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("bash");
        command.arg(self.folder.path().join("ci/container/build")).args(arguments).env("PATH", path);
        let log = self.folder.path().join("log");
        command.env("DOCKER_LOG", log).env("DOCKER_DIGEST", digest).output().expect("bash")
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }
}

/// Images that are taken from elsewhere; of the Dockerfile those that it begins with.
fn base_images() -> (Vec<String>, Vec<String>) {
    let dockerfile = text("container/Dockerfile");
    let stages: Vec<&str> = dockerfile.lines().filter_map(|line| line.strip_prefix("FROM ")).collect();
    let argument =
        |from: &str| from.split(' ').next()?.strip_prefix("${")?.strip_suffix('}').map(str::to_owned);
    let built: Vec<String> =
        stages.iter().map(|from| argument(from).unwrap_or_else(|| panic!("FROM {from} is fixed"))).collect();
    let compose = text("compose/compose.yml");
    let images = compose.lines().filter_map(|line| line.trim().strip_prefix("image: "));
    let run = images.filter(|image| *image != IMAGE).map(|image| {
        let name = image.strip_prefix("${").and_then(|rest| rest.split_once(":-"));
        name.unwrap_or_else(|| panic!("image: {image} is fixed")).0.to_owned()
    });
    (built, run.collect())
}

#[test]
fn release_names_each_base_image_by_its_digest() {
    let release = Release::new();
    let digest = format!("sha256:{}", "0af1".repeat(16));
    let ran = release.build(&["1.2.3"], &format!("docker.io/library/some@{digest}"));
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let (built, run) = base_images();
    assert_eq!((built.len(), run.len()), (3, 2));
    let (log, images) = (release.text("log"), release.text("target/container/images"));
    let build = log.lines().last().expect("a build");
    assert!(build.starts_with("build --tag wattseal-collector:1.2.3 "), "{build}");
    for name in &built {
        let given = build.split(' ').find(|word| word.starts_with(&format!("{name}=")));
        assert!(given.is_some_and(|given| given.ends_with(&format!("@{digest}"))), "{name}: {build}");
    }
    for name in built.iter().chain(&run) {
        let named = |line: &str| line.starts_with(&format!("{name}=docker.io/")) && line.ends_with(&digest);
        assert!(images.lines().any(named), "{name}: {images}");
    }
}

#[test]
fn release_without_a_digest_is_refused() {
    let release = Release::new();
    for digest in ["", "docker.io/library/some:latest", "docker.io/library/some@sha256:0af1"] {
        let ran = release.build(&["1.2.3"], digest);
        let error = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.code() == Some(1) && error.contains("by a digest"), "{digest:?}: {error}");
        assert!(!release.text("log").contains("build --tag"), "{digest:?}");
    }
    let digest = format!("docker.io/library/some@sha256:{}", "0af1".repeat(16));
    assert!(release.build(&["1.2.3"], &digest).status.success());
    let check = || release.build(&["--check", "target/container/images"], "").status.success();
    assert!(check());
    let images = release.folder.path().join("target/container/images");
    let whole = release.text("target/container/images");
    for line in whole.lines() {
        let tag = line.split('@').next().expect("a tag");
        for wrong in [whole.replace(line, tag), whole.replace(&format!("{line}\n"), "")] {
            std::fs::write(&images, wrong).expect("written");
            assert!(!check(), "{line}");
        }
    }
}

/// A gateway's container is in a network with NATS servers alone, which hear each other in another.
#[test]
fn gateway_s_container_reaches_nothing_but_clients_ports() {
    let file = compose(&path("compose/compose.yml")).expect("a file of Compose");
    let services = file["services"].as_object().expect("services");
    let networks = |service: &Value| -> BTreeSet<String> {
        let networks = &service["networks"];
        match networks.as_object() {
            Some(named) => named.keys().cloned().collect(),
            None => list(networks).filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    };
    let of_gateway = networks(&services["gateway-hall"]);
    for (name, service) in services {
        let own = networks(service);
        assert!(!own.is_empty(), "{name} is in the network of all");
        if name.starts_with("nats") {
            let listen = service["environment"]["ROUTE_LISTEN"].as_str().expect("an address");
            let alias = format!("{name}.routes");
            assert_eq!(listen, format!("{alias}:6222"), "routes are heard in one network");
            assert_eq!(service["networks"]["routes"]["aliases"], serde_json::json!([alias]));
            assert!(!of_gateway.contains("routes"));
        } else {
            assert!(!own.contains("routes"), "{name} reaches the routes");
            if name != "gateway-hall" {
                assert!(own.is_disjoint(&of_gateway), "a gateway reaches {name}");
            }
        }
    }
    assert!(!text("compose/nats.conf").contains("http"), "its monitoring is reached by gateways");
    // In Kubernetes ports are named.
    let said = read(&[path("kubernetes/network-policy.yaml")]);
    let policies: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    for policy in list(&policies) {
        for rule in list(&policy["spec"]["ingress"]) {
            let names = |from: &Value| from.to_string().contains("\"gateway\"");
            if list(&rule["from"]).any(names) {
                assert_eq!(policy["metadata"]["name"], "nats", "a gateway reaches more");
                let ports: Vec<&Value> = list(&rule["ports"]).map(|port| &port["port"]).collect();
                assert_eq!(ports, [&serde_json::json!(4222)]);
            }
        }
    }
}
